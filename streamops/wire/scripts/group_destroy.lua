-- Destroys a group that nobody uses any more.
-- KEYS[1]: the stream. ARGV: the group, where it stands, how many rows it has at most.
-- Returns how many rows were pending.
-- @include unused
local key, group = KEYS[1], ARGV[1]
local problem, pending = group_in_use(key, group, ARGV[2], tonumber(ARGV[3]))
if problem then return problem end
redis.call('XGROUP', 'DESTROY', key, group)
return pending
