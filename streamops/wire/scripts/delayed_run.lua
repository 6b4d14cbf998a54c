-- Moves delayed messages of one destination there, due or not, if they are still what was read.
-- KEYS: the queue, the bodies, the destination. ARGV, for each: the ID, SHA-1 of its body, the number of parts of
-- its fields, and these.
-- Returns one row an ID: the new entry's ID, {'gone'}, {'changed'}, or {'failed', error}; fewer rows where the server
-- ran out of memory.
-- XADD comes first: it is the one that can fail.
local rows, at = {}, 1
while at <= #ARGV do
  local id, digest, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local body = redis.call('HGET', KEYS[2], id)
  if not body or not redis.call('ZSCORE', KEYS[1], id) then
    rows[#rows + 1] = {'gone'}
  elseif redis.sha1hex(body) ~= digest then
    rows[#rows + 1] = {'changed'}
  else
    local added = redis.pcall('XADD', KEYS[3], '*', unpack(ARGV, at + 3, at + 2 + count))
    if type(added) == 'table' then
      if string.find(added.err, 'OOM', 1, true) then
        if #rows == 0 then return added end
        return rows
      end
      rows[#rows + 1] = {'failed', added.err}
    else
      redis.call('ZREM', KEYS[1], id)
      redis.call('HDEL', KEYS[2], id)
      rows[#rows + 1] = added
    end
  end
  at = at + 3 + count
end
return rows
