-- Removes those of the consumers that have nothing pending and have been idle for long enough, at this moment.
-- KEYS[1]: the stream. ARGV: the group, where it stood when the plan was made, the milliseconds, then the consumers.
-- Without milliseconds only pending entries are looked at: where there are thousands of consumers, asking how long
-- they have been idle takes tens of milliseconds in a script.
-- Returns for each what became of it: "removed", "gone", "pending" or "active".
-- @include guard
local key, group, idle = KEYS[1], ARGV[1], tonumber(ARGV[3])
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local idle_of = {}
for _, flat in ipairs(idle and redis.call('XINFO', 'CONSUMERS', key, group) or {}) do
  local consumer = {}
  for at = 1, #flat, 2 do consumer[flat[at]] = flat[at + 1] end
  idle_of[consumer['name']] = consumer['idle']
end

local became = {}
for at = 4, #ARGV do
  local name = ARGV[at]
  if idle and not idle_of[name] then
    became[#became + 1] = 'gone'
  elseif #redis.call('XPENDING', key, group, '-', '+', 1, name) > 0 then
    became[#became + 1] = 'pending'
  elseif idle and idle_of[name] < idle then
    became[#became + 1] = 'active'
  else
    redis.call('XGROUP', 'DELCONSUMER', key, group, name)
    became[#became + 1] = 'removed'
  end
end
return became
