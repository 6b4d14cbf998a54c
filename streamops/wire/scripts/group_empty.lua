-- Takes rows off the pending entries list of a group that is about to be destroyed and that nobody uses any more.
-- KEYS[1]: the stream. ARGV: the group, where it stands, how many rows it has at most, then the IDs, at most a thousand.
-- Returns how many rows were taken off.
-- @include unused
local key, group = KEYS[1], ARGV[1]
local problem = group_in_use(key, group, ARGV[2], tonumber(ARGV[3]))
if problem then return problem end
return redis.call('XACK', key, group, unpack(ARGV, 4))
