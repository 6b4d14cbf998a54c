-- Asks a job's owner to stop; a job that nobody runs is over at once.
-- KEYS[1]: the job. Returns "asked", "cancelled" where nobody ran it, "over" where there is nothing left to stop, or
-- "none" where there is no such job.
local key = KEYS[1]
local state = redis.call('HGET', key, 'state')
if not state then return 'none' end
if state == 'done' or state == 'cancelled' then return 'over' end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local ends = tonumber(redis.call('HGET', key, 'lease_ms') or '0')
redis.call('HSET', key, 'cancel', 1)
if state == 'running' and ends > now then return 'asked' end
redis.call('HSET', key, 'state', 'cancelled', 'updated_ms', now)
return 'cancelled'
