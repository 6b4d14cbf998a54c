-- Removes the oldest entries of a stream below an ID, whoever needs them: one slice.
-- KEYS[1]: the stream.
-- ARGV: the ID, entries to keep in any case, at most so many entries, "approximate" or "exact", what the exact form of
-- XTRIM is told of references ("DELREF" or nothing), then each group that the plan saw, and its position.
-- Returns {entries removed, entries left, the ID, ""}.
-- @include guard
-- @include planned_groups
-- @include trim_slice
local key, cut, kept, most = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local problem = planned_groups_drift(key, 6, #ARGV)
if problem then return problem end

local removed = trim_slice(key, cut, math.min(most, redis.call('XLEN', key) - kept), ARGV[4], ARGV[5])
return {removed, redis.call('XLEN', key), cut, ''}
