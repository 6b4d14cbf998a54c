-- Marks the dead letter that was written last, in the same transaction.
-- KEYS: the queue, the marker. ARGV: milliseconds that the marker is kept, then what the letter ends with, so that no
-- other one is marked where it could not be written.
-- Returns 1; or 0 where it was not written.
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local parts = last and last[2] or {}
for at = 2, #ARGV do
  if parts[#parts - #ARGV + at] ~= ARGV[at] then return 0 end
end
redis.call('SET', KEYS[2], last[1], 'PX', ARGV[1])
return 1
