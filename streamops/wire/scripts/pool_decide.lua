-- Writes down a decision about a pool, if who decided still leads it.
-- KEYS[1]: the pool. ARGV[1]: who. ARGV[2]: in which term. ARGV[3]: the field that counts such decisions. ARGV[4]: how
-- many errors to add. Then fields and values.
local lead = redis.call('HMGET', KEYS[1], 'leader', 'term')
if lead[1] ~= ARGV[1] or lead[2] ~= ARGV[2] then
  return redis.error_reply('DRIFT another controller leads it')
end
redis.call('HINCRBY', KEYS[1], ARGV[3], 1)
if ARGV[4] ~= '0' then redis.call('HINCRBY', KEYS[1], 'errors', ARGV[4]) end
redis.call('HSET', KEYS[1], unpack(ARGV, 5))
return 1
