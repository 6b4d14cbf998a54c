-- Sets a group's position.
-- KEYS: the stream, and perhaps the hash that keeps where the group stood. ARGV:
--   1 the group                  2 where it stood when the plan was made, which it must not be behind
--   3 where to set it            4 the counter ENTRIESREAD that goes with that, or empty
--   5 "back" or "forward"        6 up to where the entries it would be given again have been counted
--   7 how many more it may be    8 how many bytes they may have
--   9 seconds for which the hash is kept
-- Returns {1, where it stood, its counter or false, entries given again that the plan did not count}; or {0, where it
-- stands} where it has moved on too far for them to be counted here.
-- @include guard
local STEP = 64
local key, group, target, way = KEYS[1], ARGV[1], ARGV[3], ARGV[5]
local problem, before = group_drift(key, group, ARGV[2])
if problem then return problem end
local position = before['last-delivered-id']

local grown, bytes = 0, 0
if way == 'forward' then
  if less(target, position) then return drift('the group has passed ' .. target .. ' by itself') end
  -- Somebody was faster: to say that anything was skipped would not be true.
  if target == position then return drift('the group is at ' .. target .. ' already') end
elseif less(ARGV[6], position) then
  local most, room, after = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[6]
  repeat
    local entries = redis.call('XRANGE', key, '(' .. after, position, 'COUNT', STEP)
    for at = 1, #entries do
      after, grown = entries[at][1], grown + 1
      for number = 1, #entries[at][2] do bytes = bytes + #entries[at][2][number] end
    end
    if grown > most or bytes > room then return {0, position} end
    -- After the largest ID of all, to ask for more is an error.
  until #entries < STEP or after == position
end

local words = {'XGROUP', 'SETID', key, group, target}
if ARGV[4] ~= '' then
  words[#words + 1] = 'ENTRIESREAD'
  words[#words + 1] = ARGV[4]
end
-- Kept by who sets it, so that whoever is killed right after leaves it behind, as the audit log wants it.
local kept, field = KEYS[2], nil
if kept then
  local time = redis.call('TIME')
  field = string.format('%.0f/%s', time[1] * 1000 + math.floor(time[2] / 1000), position)
  local read = before['entries-read'] and string.format('%.0f', before['entries-read']) or 'null'
  redis.call('HSET', kept, field, string.format('{"position":[%s],"entries_read":%s,"back":%s}',
    (string.gsub(position, '-', ',')), read, tostring(way == 'back')))
  redis.call('EXPIRE', kept, ARGV[9])
end
local done = redis.pcall(unpack(words))
if done.err then
  if kept then redis.call('HDEL', kept, field) end
  return done
end
return {1, position, before['entries-read'] or false, grown}
