-- Tells the workers of a pool what to do, if they were last told what the caller knows of.
-- KEYS[1]: the pool. ARGV: the mode that it has, '' for none, the mode that it shall have, why, and who says so.
if (redis.call('HGET', KEYS[1], 'mode') or '') ~= ARGV[1] then
  return redis.error_reply('DRIFT it was told something else meanwhile')
end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'mode', ARGV[2], 'reason', ARGV[3], 'updated_by', ARGV[4], 'updated_at', now)
return 1
