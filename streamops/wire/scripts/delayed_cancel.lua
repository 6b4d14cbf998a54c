-- Removes delayed messages that are still what was read, and no members or bodies of other programs.
-- KEYS: the queue, the bodies. ARGV, for each: the ID, and SHA-1 of its body, or '*' for any.
-- Returns one word an ID: 'cancelled', 'gone', 'foreign' or 'changed'.
-- @include delayed_body
local words = {}
for at = 1, #ARGV, 2 do
  local id, digest = ARGV[at], ARGV[at + 1]
  local body = redis.call('HGET', KEYS[2], id)
  local queued = redis.call('ZSCORE', KEYS[1], id)
  if not body and not queued then
    words[#words + 1] = 'gone'
  elseif is_foreign(body) then
    words[#words + 1] = 'foreign'
  elseif digest ~= '*' and redis.sha1hex(body) ~= digest then
    words[#words + 1] = 'changed'
  else
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
    words[#words + 1] = 'cancelled'
  end
end
return words
