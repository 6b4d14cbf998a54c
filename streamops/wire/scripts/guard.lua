-- @include ids
-- Refusing to act on another state than the plan's.

local function drift(text) return redis.error_reply('DRIFT ' .. text) end

-- The groups of a stream by name, each with the fields of XINFO GROUPS; or the server's error.
local function groups_of(key)
  local rows = redis.pcall('XINFO', 'GROUPS', key)
  if rows.err then return nil, rows end
  local groups = {}
  for _, row in ipairs(rows) do
    local group = {}
    for at = 1, #row, 2 do group[row[at]] = row[at + 1] end
    groups[group['name']] = group
  end
  return groups
end

-- What to return where the groups of a stream could not be read.
local function unreadable(err)
  if string.find(err.err, 'no such key', 1, true) then return drift('the stream is gone') end
  return err
end

-- Nothing where a group is there and not behind the position that the plan saw; otherwise the error to return.
-- An empty floor asks for the group alone.
local function group_drift(key, name, floor)
  local groups, err = groups_of(key)
  if err then return unreadable(err) end
  local group = groups[name]
  if not group then return drift('the group is gone') end
  if floor ~= '' and less(group['last-delivered-id'], floor) then
    return drift('the group was set back to ' .. group['last-delivered-id'] .. ', or is another one')
  end
end
