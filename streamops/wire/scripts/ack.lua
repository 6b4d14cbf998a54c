-- Acknowledges entries of a group that are still pending, and says what they were.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, then the IDs.
-- Returns {the clock in milliseconds, one row an ID that was pending: {ID, owner, idle milliseconds, deliveries}}.
-- @include guard
local key, group = KEYS[1], ARGV[1]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local acknowledged = {}
for at = 3, #ARGV do
  local row = redis.call('XPENDING', key, group, ARGV[at], ARGV[at], 1)[1]
  if row and redis.call('XACK', key, group, ARGV[at]) == 1 then
    acknowledged[#acknowledged + 1] = row
  end
end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), acknowledged}
