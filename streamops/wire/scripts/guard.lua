-- @include ids
-- Refusing to act on another state than the plan's.
-- The server tells of all groups of a stream or of none, and a script pays a microsecond for each. So it is asked once,
-- and of thousands of groups only the one in question is worth a table.

local function drift(text) return redis.error_reply('DRIFT ' .. text) end

-- The rows of XINFO GROUPS, and in which column of each row a field stands; or nothing and the server's error.
local function groups_of(key)
  local rows = redis.pcall('XINFO', 'GROUPS', key)
  if rows.err then return nil, rows end
  local columns = {}
  for at = 1, rows[1] and #rows[1] or 0, 2 do columns[rows[1][at]] = at + 1 end
  return rows, columns
end

-- The fields of one group; or nothing and the server's error, if there was one.
local function group_of(key, name)
  local rows, columns = groups_of(key)
  if not rows then return nil, columns end
  local at_name, group = columns['name'], {}
  for _, row in ipairs(rows) do
    if row[at_name] == name then
      for field, at in pairs(columns) do group[field] = row[at] end
      return group
    end
  end
end

-- What to return where the groups of a stream could not be read.
local function unreadable(err)
  if string.find(err.err, 'no such key', 1, true) then return drift('the stream is gone') end
  return err
end

-- Nothing and the group where it is there and not behind the position that the plan saw; otherwise the error to
-- return. An empty floor asks for the group alone, and tells none of its fields.
local function group_drift(key, name, floor)
  if floor == '' then
    local rows = redis.pcall('XPENDING', key, name, '-', '+', 1)
    if not rows.err then return end
    return string.find(rows.err, 'NOGROUP', 1, true) and drift('the group is gone') or rows
  end
  local group, err = group_of(key, name)
  if err then return unreadable(err) end
  if not group then return drift('the group is gone') end
  local position = group['last-delivered-id']
  if less(position, floor) then
    return drift('the group was set back to ' .. position .. ', or is another one')
  end
  return nil, group
end
