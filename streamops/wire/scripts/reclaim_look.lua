-- Looks at a page of a group's pending entries as if they were to be reclaimed; writes nothing.
-- KEYS: the stream, the origins noted down. ARGV: the group, who gets entries again where it is somebody, the least idle
-- time in milliseconds, how many deliveries are the most, where to begin and to end, how many rows to look at, how many
-- to return, and at how many bytes of entries to stop.
-- Returns {last ID looked at, 1 if the end was reached, how many wait for whom they were given to, {{ID, owner, idle
-- milliseconds, deliveries over all the times it was added, what becomes of it ("redeliver", "bury", or "gone": its entry
-- is), the ID that it was born with}, ...}}.
-- @include origins
local ATTEMPT, MOST_DIGITS, LARGEST = '_so_attempt', 9, 9007199254740991
local key, notes, group, to = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local min_idle, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local look, room_for, room = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

-- How often an entry was delivered before it was added anew. Its field counts the delivery to come as well.
local function delivered_before(parts)
  for at = #parts - 1, 1, -2 do
    local value = parts[at + 1]
    if parts[at] == ATTEMPT and #value <= MOST_DIGITS and string.find(value, '^%d+$') then
      return math.max(0, tonumber(value) - 1)
    end
  end
  return 0
end

local page = redis.call('XPENDING', key, group, ARGV[5], ARGV[6], look)
local last, ended, bytes, waiting, rows = '', #page < look, 0, 0, {}
for _, row in ipairs(page) do
  if #rows == room_for or bytes >= room then
    ended = false
    break
  end
  last = row[1]
  if row[3] >= min_idle then
    local entry = redis.call('XRANGE', key, row[1], row[1])[1]
    local parts = entry and entry[2] or {}
    for _, part in ipairs(parts) do bytes = bytes + #part end
    local deliveries = delivered_before(parts) + row[4]
    if entry and deliveries < most and to ~= '' and row[2] == to then
      waiting = waiting + 1
    else
      local becomes = not entry and 'gone' or deliveries < most and 'redeliver' or 'bury'
      local origin = origin_of(notes, row[1], parts)
      rows[#rows + 1] = {row[1], row[2], row[3], math.min(deliveries, LARGEST), becomes, origin}
    end
  end
end
return {last, ended and 1 or 0, waiting, rows}
