-- @include guard

-- Nothing and its number of pending rows where a group stands exactly where the plan saw it, with no more of them than
-- that counted: nobody has read with it since. Otherwise the error to return.
local function group_in_use(key, name, position, most)
  local problem, group = group_drift(key, name, position)
  if problem then return problem end
  if group['last-delivered-id'] ~= position then
    return drift('its consumers have read on, to ' .. group['last-delivered-id'])
  end
  if group['pending'] > most then
    return drift('it has ' .. group['pending'] .. ' pending entries, more than the ' .. most .. ' of the plan')
  end
  return nil, group['pending']
end
