-- Deletes entries by their IDs.
-- KEYS[1]: the stream. ARGV: how many groups the plan saw, each of them with its position, then the IDs.
-- Returns the IDs of those that were there.
-- @include guard
-- @include planned_groups
local key, first = KEYS[1], 2 + 2 * tonumber(ARGV[1])
local problem = planned_groups_drift(key, 2, first - 1)
if problem then return problem end

local deleted = {}
for at = first, #ARGV do
  if redis.call('XDEL', key, ARGV[at]) == 1 then deleted[#deleted + 1] = ARGV[at] end
end
return deleted
