-- Gives pending entries back, by making their rows look idle for long, with the same owner. Deliveries stay counted.
-- KEYS: the stream, and perhaps the hash that keeps the rows as they were. ARGV: the group, its position in the plan,
-- seconds that they are kept, the idle time to set in milliseconds, then IDs, each followed by its owner in the plan.
-- Returns {how many, the rows as they were where nothing keeps them, IDs left alone, and for each why: "gone", "owner",
-- "idle" or "missing"}.
-- @include guard
-- @include undo_snapshot
local key, group, idle = KEYS[1], ARGV[1], tonumber(ARGV[4])
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local function give_back(row)
  return #redis.call('XCLAIM', key, group, row[2], 0, row[1], 'IDLE', ARGV[4], 'JUSTID') == 1
end

local rows = {}
for at = 5, #ARGV, 2 do
  local row = redis.call('XPENDING', key, group, ARGV[at], ARGV[at], 1)[1]
  if not row then
    leave(ARGV[at], 'gone')
  elseif row[2] ~= ARGV[at + 1] then
    leave(ARGV[at], 'owner')
  elseif row[3] >= idle then
    -- Perhaps somebody else gave it back just now: taking this back must not bring that again.
    leave(ARGV[at], 'idle')
  else
    rows[#rows + 1] = row
  end
end
take_rows(rows, #rows, function() return true end)
local told, given_back = keep_taken(KEYS[2], ARGV[3]), {}
for _, row in ipairs(rows) do
  given_back[row[1]] = give_back(row)
  if not given_back[row[1]] then leave(row[1], 'missing') end
end
if #left > 0 and count > 0 then told = keep_only(given_back, KEYS[2], ARGV[3]) end
return {count, told, left, why}
