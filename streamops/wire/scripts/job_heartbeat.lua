-- A sign of life of a job's owner, with how far it is.
-- KEYS[1]: the job. ARGV: the owner, the lease in milliseconds, seconds that the job is kept, then fields and values.
-- Returns "ok", "cancel" where somebody asked it to stop, or "lost" where it is not its own any more.
local key, owner, lease, kept = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]
if redis.call('HGET', key, 'owner') ~= owner then return 'lost' end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for at = 4, #ARGV, 2 do redis.call('HSET', key, ARGV[at], ARGV[at + 1]) end
redis.call('HSET', key, 'lease_ms', now + lease, 'updated_ms', now)
redis.call('EXPIRE', key, kept)
return redis.call('HGET', key, 'cancel') == '1' and 'cancel' or 'ok'
