-- Hands pending entries of one consumer to another one, with idle times and counts as they are.
-- KEYS[1]: the stream. ARGV: the group, where it stood when the plan was made, from whom, to whom, the ID to begin
-- after or empty, how many rows at most, how many rows the consumer may have in all (empty: that was asked before).
-- Returns {rows as they were, IDs of rows that the server took off the list because their entries are gone, the
-- last ID looked at or empty, the time in milliseconds}.
-- @include guard
local LARGEST, LAST_ID = 9007199254740991, '18446744073709551615-18446744073709551615'
local key, group, from, to = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end
if ARGV[7] ~= '' then
  -- The summary tells of consumers with something pending only, and takes a tenth of what XINFO CONSUMERS does.
  for _, consumer in ipairs(redis.call('XPENDING', key, group)[4] or {}) do
    if consumer[1] == from and tonumber(consumer[2]) > tonumber(ARGV[7]) then
      return drift('it has ' .. consumer[2] .. ' pending entries now, more than the ' .. ARGV[7]
        .. ' of the plan: it is at work')
    end
  end
end

local function whole(number) return math.min(math.max(number, 0), LARGEST) end
local function digits(number) return string.format('%.0f', number) end

local moved, gone, last = {}, {}, ''
local start = ARGV[5] == '' and '-' or '(' .. ARGV[5]
-- To ask for what comes after the largest ID of all is an error.
local rows = ARGV[5] == LAST_ID and {} or redis.call('XPENDING', key, group, start, '+', ARGV[6], from)
for _, row in ipairs(rows) do
  last, row[4] = row[1], whole(row[4])
  local claimed = redis.call(
    'XCLAIM', key, group, to, '0', last, 'IDLE', digits(whole(row[3])), 'RETRYCOUNT', digits(row[4]), 'JUSTID'
  )
  if #claimed == 1 then moved[#moved + 1] = row else gone[#gone + 1] = last end
end
local clock = redis.call('TIME')
return {moved, gone, last, clock[1] * 1000 + math.floor(clock[2] / 1000)}
