-- Takes, keeps or gives up the lead of a pool.
-- KEYS[1]: the pool. ARGV[1]: who. ARGV[2]: for how many milliseconds, 0 to give it up. ARGV[3]: 1 for who only advises,
-- and makes way for who does not. Then fields and values that who leads announces.
-- Returns {1 if it has the lead, the server's clock in milliseconds, all fields and values of the pool}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lead = redis.call('HMGET', KEYS[1], 'leader', 'leader_until', 'leader_advises')
local mine = lead[1] == ARGV[1]
local taken = lead[1] and not mine and (tonumber(lead[2] or '') or 0) > now
if lead[3] == '1' and ARGV[3] ~= '1' then taken = false end
local leads = 0
if ARGV[2] == '0' then
  if mine then redis.call('HDEL', KEYS[1], 'leader', 'leader_until', 'leader_advises') end
elseif not taken then
  if not mine then redis.call('HINCRBY', KEYS[1], 'term', 1) end
  local till = string.format('%.0f', now + ARGV[2])
  redis.call('HSET', KEYS[1], 'leader', ARGV[1], 'leader_until', till, 'leader_advises', ARGV[3], unpack(ARGV, 4))
  leads = 1
end
return {leads, string.format('%.0f', now), redis.call('HGETALL', KEYS[1])}
