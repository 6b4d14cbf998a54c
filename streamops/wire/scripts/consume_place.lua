-- Writes dead letters of entries in another slot, each once: its marker names its letter.
-- KEYS: the dead-letter queue, then one marker a letter. ARGV: milliseconds that markers are kept, then the letters as
-- MessagePack, each {name, value, ...}.
-- Returns how many of them, from the first on, stand in the queue now.
-- @include consume_stands
-- @include dead_letter_write
local queue = KEYS[1]

local refused = letter_refused(queue)
if refused then return refused end
-- These options exclude each other: nothing is set, but permission is looked at.
local allowed = redis.pcall('SET', KEYS[2], '', 'NX', 'XX')
if not string.find(allowed.err, 'syntax', 1, true) then return allowed end

for at, parts in ipairs(cmsgpack.unpack(ARGV[2])) do
  local marker = KEYS[1 + at]
  if not stands(queue, marker) then
    local added = write_letter(queue, parts)
    if type(added) == 'table' then return at > 1 and at - 1 or added end
    redis.call('SET', marker, added, 'PX', ARGV[1])
  end
end
return #KEYS - 1
