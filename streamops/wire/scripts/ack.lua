-- Acknowledges entries of a group that are pending as the plan saw them, and keeps what they were.
-- KEYS: the stream, and perhaps the hash that keeps the rows as they were. ARGV: the group, its position in the plan,
-- seconds that they are kept, then IDs, each followed by its owner and its deliveries in the plan.
-- Returns {how many, the rows as they were where nothing keeps them, IDs left alone, for each why: "gone", "owner" or
-- "delivered", and for each its owner now}.
-- @include guard
-- @include rows_kept
local key, group = KEYS[1], ARGV[1]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local rows, alone, why, owners_now = {}, {}, {}, {}
local function leave(id, reason, owner)
  alone[#alone + 1], why[#why + 1], owners_now[#owners_now + 1] = id, reason, owner
end
for at = 4, #ARGV, 3 do
  local id, owner, deliveries = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local row = redis.call('XPENDING', key, group, id, id, 1)[1]
  if not row then
    leave(id, 'gone', '')
  elseif row[2] ~= owner then
    leave(id, 'owner', row[2])
  elseif row[4] > deliveries then
    leave(id, 'delivered', owner)
  else
    rows[#rows + 1] = row
  end
end
take_rows(rows, #rows, function() return true end)
local told = keep_taken(KEYS[2], ARGV[3])
if count > 0 then redis.call('XACK', key, group, unpack(ids)) end
return {count, told, alone, why, owners_now}
