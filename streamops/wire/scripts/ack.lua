-- Acknowledges entries of a group that are pending as the plan saw them, and says what they were.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, then IDs, each followed by its owner and its
-- deliveries in the plan.
-- Returns {the clock in milliseconds, the rows acknowledged: {ID, owner, idle milliseconds, deliveries}, IDs left
-- alone, for each why: "gone", "owner" or "delivered", and for each its owner now}.
-- @include guard
local key, group = KEYS[1], ARGV[1]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local acknowledged, alone, why, owners = {}, {}, {}, {}
local function leave(id, reason, owner)
  alone[#alone + 1], why[#why + 1], owners[#owners + 1] = id, reason, owner
end
for at = 3, #ARGV, 3 do
  local id, owner, deliveries = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local row = redis.call('XPENDING', key, group, id, id, 1)[1]
  if not row then
    leave(id, 'gone', '')
  elseif row[2] ~= owner then
    leave(id, 'owner', row[2])
  elseif row[4] > deliveries then
    leave(id, 'delivered', owner)
  else
    redis.call('XACK', key, group, id)
    acknowledged[#acknowledged + 1] = row
  end
end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), acknowledged, alone, why, owners}
