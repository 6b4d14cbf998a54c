-- Gives pending entries back: by XNACK where the server has it, else by making their rows look idle for long, with
-- the same owner. Deliveries stay counted.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, "XNACK" or "XCLAIM", the idle time to set in
-- milliseconds, then IDs, each followed by its owner in the plan.
-- Returns {the clock in milliseconds, rows given back as they were, IDs left alone, and for each why: "gone",
-- "owner" or "missing"}.
-- @include guard
local key, group, how, idle = KEYS[1], ARGV[1], ARGV[3], tonumber(ARGV[4])
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local function give_back(row)
  local id, owner = row[1], row[2]
  if how == 'XNACK' then return redis.call('XNACK', key, group, 'FAIL', 'IDS', 1, id) == 1 end
  local longest = string.format('%.0f', math.max(idle, row[3]))
  return #redis.call('XCLAIM', key, group, owner, 0, id, 'IDLE', longest, 'JUSTID') == 1
end

local rows, alone, why = {}, {}, {}
local function leave(id, reason) alone[#alone + 1], why[#why + 1] = id, reason end
for at = 5, #ARGV, 2 do
  local row = redis.call('XPENDING', key, group, ARGV[at], ARGV[at], 1)[1]
  if not row then
    leave(ARGV[at], 'gone')
  elseif row[2] ~= ARGV[at + 1] then
    leave(ARGV[at], 'owner')
  elseif give_back(row) then
    rows[#rows + 1] = row
  else
    leave(ARGV[at], 'missing')
  end
end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), rows, alone, why}
