-- Writes what a worker tells of itself onto the roster of its pool; now and then, drops those that fell silent.
-- KEYS[1]: the roster. ARGV[1]: the worker. ARGV[2]: what it tells. ARGV[3]: after how many milliseconds of silence
-- one is dropped.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now, ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
-- All beats together look at each about once a beat, however many there are.
if time[2] % redis.call('HLEN', KEYS[1]) == 0 then
  local told = redis.call('HGETALL', KEYS[1])
  for at = 1, #told, 2 do
    local beat = tonumber(string.match(told[at + 1], '^%d+'))
    if not beat or beat < now - ARGV[3] then redis.call('HDEL', KEYS[1], told[at]) end
  end
end
return string.format('%.0f', now)
