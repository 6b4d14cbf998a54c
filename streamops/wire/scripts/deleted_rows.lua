-- Looks for entries by their IDs, and writes nothing.
-- KEYS[1]: the stream. ARGV: bytes of entries after which to stop, then the IDs.
-- Returns {how many were looked for, the number of each that is not there}.
local key, room = KEYS[1], tonumber(ARGV[1])
local found, bytes = {0}, 0
for at = 2, #ARGV do
  if bytes >= room then break end
  local entry = redis.call('XRANGE', key, ARGV[at], ARGV[at])[1]
  found[1] = found[1] + 1
  if entry then
    for _, part in ipairs(entry[2]) do bytes = bytes + #part end
  else
    found[#found + 1] = found[1]
  end
end
return found
