-- Writes that a supervisor of a pool lives, and drops those that fell silent.
-- KEYS[1]: the supervisors. ARGV[1]: which. ARGV[2]: what it tells. ARGV[3]: after how many milliseconds of silence one
-- is dropped.
-- Returns names and what they told, in turn.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now, ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[3] * 4)
local told, live = redis.call('HGETALL', KEYS[1]), {}
for at = 1, #told, 2 do
  local beat = tonumber(string.match(told[at + 1], '^%d+'))
  if beat and beat >= now - ARGV[3] then
    live[#live + 1], live[#live + 2] = told[at], told[at + 1]
  else
    redis.call('HDEL', KEYS[1], told[at])
  end
end
return live
