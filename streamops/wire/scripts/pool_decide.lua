-- Writes down a decision about a pool, if who decided still leads it.
-- KEYS[1]: the pool. KEYS[2], where it goes into the log too, and that is in the same slot: the log. ARGV[1]: who. ARGV[2]:
-- in which term. ARGV[3]: the field that counts such decisions. ARGV[4]: how many errors to add. ARGV[5]: how many decisions
-- the log keeps. Then fields and values, of which the first are the decision itself.
-- Returns {1}, and behind it the error where the log cannot be written.
local lead = redis.call('HMGET', KEYS[1], 'leader', 'term')
if lead[1] ~= ARGV[1] or lead[2] ~= ARGV[2] then
  return redis.error_reply('DRIFT another controller leads it')
end
redis.call('HINCRBY', KEYS[1], ARGV[3], 1)
if ARGV[4] ~= '0' then redis.call('HINCRBY', KEYS[1], 'errors', ARGV[4]) end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
local logged = KEYS[2] and redis.pcall('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', ARGV[6], ARGV[7])
return type(logged) == 'table' and logged.err and {1, logged} or {1}
