-- Adds an entry together with the payload that it refers to; neither without the other.
-- KEYS: the stream, the payload. ARGV: the payload, its milliseconds to live, the entry's ID or '*', the cap or '',
-- then names and values.
-- Returns the entry's ID.
-- The payload first: where memory is short nothing is written, and the entry cannot fail for that any more.
local kept = redis.pcall('SET', KEYS[2], ARGV[1], 'PX', ARGV[2], 'NX')
if not kept then return redis.error_reply('ERR there is a key ' .. KEYS[2] .. ' already') end
if kept.err then return kept end

local added
if ARGV[4] == '' then
  added = redis.pcall('XADD', KEYS[1], ARGV[3], unpack(ARGV, 5))
else
  added = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', ARGV[4], ARGV[3], unpack(ARGV, 5))
end
if type(added) == 'table' then redis.call('DEL', KEYS[2]) end
return added
