-- Writes or removes one topic, if it is still what was read.
-- KEYS: the topics. ARGV: its name, SHA-1 of what stands there, '' for nothing, and what shall stand there, '' for nothing.
local stands = redis.call('HGET', KEYS[1], ARGV[1])
if (stands and redis.sha1hex(stands) or '') ~= ARGV[2] then
  return redis.error_reply('DRIFT it was changed since the plan')
end
if ARGV[3] == '' then return redis.call('HDEL', KEYS[1], ARGV[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
