-- Nothing where the stream has the very groups that the plan saw, none of them set back; otherwise the error to
-- return. The groups stand in ARGV[from] to ARGV[to], each followed by its position.
local function planned_groups_drift(key, from, to)
  local rows, columns = groups_of(key)
  if not rows then return unreadable(columns) end
  local at_name, at_position, positions = columns['name'], columns['last-delivered-id'], {}
  for _, row in ipairs(rows) do positions[row[at_name]] = row[at_position] end
  for at = from, to, 2 do
    local name, position = ARGV[at], positions[ARGV[at]]
    if not position then return drift('group ' .. name .. ' is gone') end
    if position ~= ARGV[at + 1] and less(position, ARGV[at + 1]) then
      return drift('group ' .. name .. ' was set back to ' .. position)
    end
    positions[name] = nil
  end
  local name = next(positions)
  if name then return drift('group ' .. name .. ' is new') end
end
