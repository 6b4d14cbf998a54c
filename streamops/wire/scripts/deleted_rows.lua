-- Looks for entries by their IDs, and writes nothing.
-- KEYS[1]: the stream. ARGV: bytes of entries after which to stop, then the IDs.
-- Returns {how many were looked for, how many of them are not there, the number of the first of these or 0}.
local key, room = KEYS[1], tonumber(ARGV[1])
local looked, gone, first, bytes = 0, 0, 0, 0
for at = 2, #ARGV do
  if bytes >= room then break end
  local entry = redis.call('XRANGE', key, ARGV[at], ARGV[at])[1]
  looked = looked + 1
  if entry then
    for _, part in ipairs(entry[2]) do bytes = bytes + #part end
  else
    gone = gone + 1
    if first == 0 then first = looked end
  end
end
return {looked, gone, first}
