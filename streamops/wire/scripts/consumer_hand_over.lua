-- Hands pending entries of one consumer to another one, with idle times and counts as they are.
-- KEYS: the stream, and perhaps the hash that keeps the rows as they were. ARGV: the group, where it stood when the plan
-- was made, from whom, to whom, the ID to begin after or empty, how many rows at most, how many rows the consumer may have
-- in all (empty: that was asked before), seconds that the rows are kept.
-- Returns {the last ID looked at or empty, 1 if the end was reached, how many, the rows as they were where nothing keeps them, IDs left
-- alone, and for each why: "missing" where the server took the row off the list because its entry is gone}.
-- @include guard
-- @include undo_snapshot
local LAST_ID = '18446744073709551615-18446744073709551615'
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

local function digits(number) return string.format('%.0f', math.min(math.max(number, 0), LARGEST)) end

local moved, last = {}, ''
local start = ARGV[5] == '' and '-' or '(' .. ARGV[5]
-- To ask for what comes after the largest ID of all is an error.
local rows = ARGV[5] == LAST_ID and {} or redis.call('XPENDING', key, group, start, '+', ARGV[6], from)
take_rows(rows, #rows, function() return true end)
local told = keep_taken(KEYS[2], ARGV[8])
for _, row in ipairs(rows) do
  last = row[1]
  local claimed = redis.call(
    'XCLAIM', key, group, to, '0', last, 'IDLE', digits(row[3]), 'RETRYCOUNT', digits(row[4]), 'JUSTID'
  )
  if #claimed == 1 then moved[last] = true else leave(last, 'missing') end
end
if #left > 0 then told = keep_only(moved, KEYS[2], ARGV[8]) end
return {last, #rows < tonumber(ARGV[6]) and 1 or 0, count, told, left, why}
