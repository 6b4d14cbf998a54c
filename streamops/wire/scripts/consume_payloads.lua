-- @include guard
-- Deletes payloads of entries that a group has dealt with, where no other group reads their stream.
local function drop_payloads(stream, group, payloads)
  if #payloads == 0 then return end
  local rows, columns = groups_of(stream)
  for _, row in ipairs(rows or {}) do
    if row[columns['name']] ~= group then return end
  end
  redis.call('DEL', unpack(payloads))
end
