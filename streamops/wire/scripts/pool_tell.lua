-- Tells a pool something, if it was last told what the caller knows of.
-- KEYS[1]: the pool. ARGV[1]: how many pairs of a field and the value that it must have, '' for none, '@later' for any
-- moment after this one, come next; then pairs of a field and its new value, '' to remove it, '@now' for the server's
-- clock in milliseconds.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = 2
for _ = 1, ARGV[1] do
  local has, must = redis.call('HGET', KEYS[1], ARGV[at]) or '', ARGV[at + 1]
  local holds = has == must
  if must == '@later' then holds = (tonumber(has) or 0) > now end
  if not holds then return redis.error_reply('DRIFT it was changed since it was read') end
  at = at + 2
end
local told = string.format('%.0f', now)
for field = at, #ARGV, 2 do
  local value = ARGV[field + 1]
  if value == '' then
    redis.call('HDEL', KEYS[1], ARGV[field])
  else
    redis.call('HSET', KEYS[1], ARGV[field], value == '@now' and told or value)
  end
end
return 1
