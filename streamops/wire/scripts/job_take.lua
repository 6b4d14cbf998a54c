-- Takes a job: a new one, or one that nobody holds any more.
-- KEYS[1]: the job. ARGV: the owner, the lease in milliseconds, seconds that the job is kept, "new" or "taken",
-- then fields and values: what a new one is set to, and what one that was there must still be.
-- Returns 1; or {owner, milliseconds left} where somebody else still holds it; or 0 where a job that should be
-- there is not, or is over; or -1 where somebody went on with it in the meantime.
local key, owner, lease, kept, as = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local state = redis.call('HGET', key, 'state')

if as == 'new' then
  if state then return 0 end
  redis.call('HSET', key, 'created_ms', now)
else
  if not state or state == 'done' or state == 'cancelled' then return 0 end
  local holder, ends = redis.call('HGET', key, 'owner'), tonumber(redis.call('HGET', key, 'lease_ms') or '0')
  if state == 'running' and holder ~= owner and ends > now then return {holder, ends - now} end
  for at = 5, #ARGV, 2 do
    if (redis.call('HGET', key, ARGV[at]) or '') ~= ARGV[at + 1] then return -1 end
  end
end
for at = 5, #ARGV, 2 do redis.call('HSET', key, ARGV[at], ARGV[at + 1]) end
redis.call('HSET', key, 'owner', owner, 'lease_ms', now + lease, 'updated_ms', now, 'state', 'running', 'cancel', 0)
redis.call('EXPIRE', key, kept)
return 1
