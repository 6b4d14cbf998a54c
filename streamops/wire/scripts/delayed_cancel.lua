-- Removes delayed messages that are still what was read.
-- KEYS: the queue, the bodies. ARGV, for each: the ID, and SHA-1 of its body, or '' for none, or '*' for any.
-- Returns one word an ID: 'cancelled', 'gone' or 'changed'.
local words = {}
for at = 1, #ARGV, 2 do
  local id, digest = ARGV[at], ARGV[at + 1]
  local body = redis.call('HGET', KEYS[2], id)
  local queued = redis.call('ZSCORE', KEYS[1], id)
  if not body and not queued then
    words[#words + 1] = 'gone'
  elseif digest ~= '*' and (body and redis.sha1hex(body) or '') ~= digest then
    words[#words + 1] = 'changed'
  else
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
    words[#words + 1] = 'cancelled'
  end
end
return words
