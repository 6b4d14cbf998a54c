-- Deletes entries by their IDs.
-- KEYS[1]: the stream. ARGV: "DELREF" where their pending rows go with them, how many groups the plan saw, each of them
-- with its position, then the IDs.
-- Returns the IDs of those that were there.
-- @include guard
-- @include planned_groups
local key, references, first = KEYS[1], ARGV[1], 3 + 2 * tonumber(ARGV[2])
local problem = planned_groups_drift(key, 3, first - 1)
if problem then return problem end

local function deletes(id)
  if references == '' then return redis.call('XDEL', key, id) == 1 end
  return redis.call('XDELEX', key, references, 'IDS', 1, id)[1] == 1
end

local deleted = {}
for at = first, #ARGV do
  if deletes(ARGV[at]) then deleted[#deleted + 1] = ARGV[at] end
end
return deleted
