-- Takes pending entries of a group over for a consumer, in the order of their IDs: those of one consumer, or of all
-- but itself, that are idle for long enough. Counts a delivery of each. By a cursor, because XPENDING with IDLE goes
-- over the whole list; and by XCLAIM on every server, because XAUTOCLAIM takes the consumer's own entries too.
-- KEYS: the stream, the marks, the unhandled ones. ARGV: the group, the consumer, 1 and whose entries, or 2 and whose entries where the IDs
-- at the end are the only ones to take, in order, or 0 and nothing, the least idle
-- time in milliseconds, how many entries and how many bytes at most, how many rows to look at, the ID to begin after
-- or '-', what the fields of marks begin with, for how many milliseconds business keys are remembered or 0, then those
-- IDs.
-- Entries that were deleted are taken off the list of pending ones; where they may own business keys, they are noted down
-- as unhandled.
-- Returns {entries: {ID, fields, deliveries}, their marks, {ID, deliveries, ...} of deleted ones, the ID to begin
-- after next, or '' at the end}.
local LAST_ID, MOST_STEP = '18446744073709551615-18446744073709551615', 64
local key, marks, unhandled, group, me = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local named = ARGV[3] == '2'
local from = ARGV[3] ~= '0' and ARGV[4]
local min_idle, limit, most_bytes, look = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local after, prefix, remembered = ARGV[9], ARGV[10], tonumber(ARGV[11])

-- XNACK leaves no owner, and no idle time.
local function is_free(row)
  return row[2] == '' or row[3] >= min_idle and (from or row[2] ~= me)
end

local taken, fields, gone, gone_fields, bytes = {}, {}, {}, {}, 0

local function weigh(parts)
  for _, part in ipairs(parts) do bytes = bytes + #part end
end

-- Of entries that were deleted, Redis 6.2 says nil, and later ones nothing.
local function claim(rows)
  local ids, found = {}, {}
  for at, row in ipairs(rows) do ids[at] = row[1] end
  for _, entry in ipairs(redis.call('XCLAIM', key, group, me, 0, unpack(ids))) do
    if entry then found[entry[1]] = entry[2] end
  end
  for _, row in ipairs(rows) do
    local id, parts = row[1], found[row[1]]
    -- Others may have set counts that no number here can hold.
    local deliveries = string.format('%.0f', math.min(row[4], 4503599627370496))
    if parts then
      weigh(parts)
      taken[#taken + 1] = {id, parts, deliveries + 1}
      fields[#fields + 1] = prefix .. id
    else
      redis.call('XACK', key, group, id)
      gone[#gone + 1], gone[#gone + 2] = id, deliveries
      gone_fields[#gone_fields + 1] = prefix .. id
    end
  end
end

local page = {}
if named then
  for number = 12, #ARGV do
    page[#page + 1] = redis.call('XPENDING', key, group, ARGV[number], ARGV[number], 1, from)[1]
  end
else
  local words = {'XPENDING', key, group, after == '-' and '-' or '(' .. after, '+', look}
  if from then words[#words + 1] = from end
  page = redis.call(unpack(words))
end
local at, step = 1, 1
while at <= #page and #taken < limit and bytes < most_bytes do
  local rows = {}
  while at <= #page and #rows < step do
    if is_free(page[at]) then rows[#rows + 1] = page[at] end
    at = at + 1
  end
  if #rows > 0 then claim(rows) end
  local room = math.floor((most_bytes - bytes) * #taken / (bytes + 1))
  step = math.max(1, math.min(2 * step, MOST_STEP, limit - #taken, room))
end

local last = at > 1 and page[at - 1][1] or ''
-- Nothing can be asked for after the very last ID.
if at > #page and (named or #page < look) or last == LAST_ID then last = '' end
if #gone_fields > 0 then
  redis.call('HDEL', marks, unpack(gone_fields))
  if remembered > 0 then
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    for _, field in ipairs(gone_fields) do
      redis.call('ZADD', unhandled, string.format('%.0f', now), field)
    end
    redis.call('PEXPIRE', unhandled, ARGV[11])
    -- As many as came at most: sooner or later those that are forgotten are gone.
    local old = string.format('%.0f', now - remembered)
    local forgotten = redis.call('ZRANGE', unhandled, '-inf', old, 'BYSCORE', 'LIMIT', 0, 2 * #gone_fields)
    if #forgotten > 0 then redis.call('ZREM', unhandled, unpack(forgotten)) end
  end
end
return {taken, #fields > 0 and redis.call('HMGET', marks, unpack(fields)) or {}, gone, last}
