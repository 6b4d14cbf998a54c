-- @include guard
-- The error where a group of a stream would miss what is taken out up to an ID: it has yet to read that, or to
-- acknowledge it.
local function in_use(key, last)
  local rows, columns = groups_of(key)
  if not rows then return unreadable(columns) end
  for _, row in ipairs(rows) do
    local name, unread = row[columns['name']], less(row[columns['last-delivered-id']], last)
    if unread or #redis.call('XPENDING', key, name, '-', last, 1) > 0 then
      return drift('group ' .. name .. ' reads it by now, and would lose entries that are pending or unread')
    end
  end
end
