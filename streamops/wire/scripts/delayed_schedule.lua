-- Adds a delayed message, unless there is one of its ID, or half of one.
-- KEYS: the queue, the bodies. ARGV: the ID, the body, the delay in milliseconds by the server's clock; or the ID,
-- the body, '' and the instant in milliseconds.
-- Returns when it is due, in milliseconds; 0 where its ID is taken.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) or redis.call('HGET', KEYS[2], ARGV[1]) then return 0 end

local due = ARGV[4]
if not due then
  local now = redis.call('TIME')
  due = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[3])
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[1], due, ARGV[1])
return due
