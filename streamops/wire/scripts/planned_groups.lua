-- Nothing where the stream has the very groups that the plan saw, none of them set back; otherwise the error to
-- return. The groups stand in ARGV[from] to ARGV[to], each followed by its position.
local function planned_groups_drift(key, from, to)
  local groups, err = groups_of(key)
  if err then return unreadable(err) end
  for at = from, to, 2 do
    local name, group = ARGV[at], groups[ARGV[at]]
    if not group then return drift('group ' .. name .. ' is gone') end
    if less(group['last-delivered-id'], ARGV[at + 1]) then
      return drift('group ' .. name .. ' was set back to ' .. group['last-delivered-id'])
    end
    groups[name] = nil
  end
  local name = next(groups)
  if name then return drift('group ' .. name .. ' is new') end
end
