-- Acknowledges entries of a group that are pending as the plan saw them.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, then IDs, each followed by its owner and its deliveries
-- in the plan.
-- Returns {how many, nothing, IDs left alone, for each why: "gone", "owner" or "delivered", and for each its owner now}.
-- @include guard
local key, group = KEYS[1], ARGV[1]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local ids, alone, why, owners_now = {}, {}, {}, {}
local function leave(id, reason, owner)
  alone[#alone + 1], why[#why + 1], owners_now[#owners_now + 1] = id, reason, owner
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
    ids[#ids + 1] = id
  end
end
if #ids > 0 then redis.call('XACK', key, group, unpack(ids)) end
return {#ids, '', alone, why, owners_now}
