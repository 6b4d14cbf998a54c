-- Adds delayed messages, except where there is one of that ID, or half of one.
-- KEYS: the queue, the bodies. ARGV, for each, a few hundred at most: the ID, the body, and the instant in
-- milliseconds; or, with a plus before it, the delay in milliseconds by the server's clock.
-- Returns for each when it is due, in milliseconds; 0 where its ID is taken.
-- @include wake_promoters
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = {}
for at = 1, #ARGV, 3 do ids[#ids + 1] = ARGV[at] end
local scores = redis.call('ZMSCORE', KEYS[1], unpack(ids))
local bodies = redis.call('HMGET', KEYS[2], unpack(ids))

local answers, members, fields, least, seen = {}, {}, {}, math.huge, {}
for number, id in ipairs(ids) do
  if scores[number] or bodies[number] or seen[id] then
    answers[number] = '0'
  else
    local due = ARGV[3 * number]
    if string.byte(due) == 43 then due = string.format('%.0f', now + due) end
    answers[number], seen[id] = due, true
    least = math.min(least, tonumber(due))
    members[#members + 1], members[#members + 2] = due, id
    fields[#fields + 1], fields[#fields + 2] = id, ARGV[3 * number - 1]
  end
end
if #members == 0 then return answers end

-- Changes nothing, and fails where the queue must not be written to or memory is short: half a message never comes due.
redis.call('ZADD', KEYS[1], 'XX', 0, members[2])
local first = first_due(KEYS[1])
redis.call('HSET', KEYS[2], unpack(fields))
redis.call('ZADD', KEYS[1], unpack(members))
wake_promoters(KEYS[1], least, first, now)
return answers
