-- @include consume_rows
-- @include dead_letter_fields
-- What retrying an entry and giving it up have in common.

-- Unpack fails beyond about eight thousand values.
local MOST_PARTS = 7800
-- So many bytes of entries are settled by one call, and the rest by the next one.
local MOST_BYTES = 4194304

-- Fails where an entry that was written elsewhere could not be taken off the list of pending ones: an error midway
-- is not undone.
local function require_removal(key, group, marks, retries)
  redis.call('XACK', key, group, '0-0')
  if retries then redis.call('XDEL', key, '0-0') end
  redis.call('HDEL', marks, '')
end

-- An entry is settled: it is pending no more.
local function remove(key, group, marks, retries, prefix, id)
  redis.call('XACK', key, group, id)
  if retries then redis.call('XDEL', key, id) end
  redis.call('HDEL', marks, prefix .. id)
end
