-- Which of the pending entries that the including script names are in their stream. Claiming one that is not takes it off
-- the list of pending ones since Redis 7.0, and with it the last trace of it.
-- @include ids

-- Whether an entry is certainly there, by what is known of its stream. Entries are as large as they are: looking at each
-- would copy all of them into the script. Redis 6.2 does not tell of deletions.
local function certainty(key)
  local info = redis.pcall('XINFO', 'STREAM', key)
  local deleted, first
  for at = 1, #info, 2 do
    if info[at] == 'max-deleted-entry-id' then deleted = info[at + 1] end
    if info[at] == 'first-entry' then first = info[at + 1] and info[at + 1][1] end
  end
  return function(id) return deleted and first and less(deleted, id) and not less(id, first) end
end

-- Those that are there, and those that are not; both in order.
local function sort_out(key, ids)
  local is_certain, there, gone = certainty(key), {}, {}
  for _, id in ipairs(ids) do
    local list = (is_certain(id) or redis.call('XRANGE', key, id, id)[1]) and there or gone
    list[#list + 1] = id
  end
  return there, gone
end
