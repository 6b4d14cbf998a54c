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
  local rows = redis.pcall('XINFO', 'GROUPS', key)
  if rows.err then return unreadable(rows) end
  local position
  for _, row in ipairs(rows) do
    -- Of thousands of groups, only the one in question is worth a table.
    if row[2] == name then
      for at = 1, #row, 2 do
        if row[at] == 'last-delivered-id' then position = row[at + 1] end
      end
    end
  end
  if not position then return drift('the group is gone') end
  if floor ~= '' and less(position, floor) then
    return drift('the group was set back to ' .. position .. ', or is another one')
  end
end
