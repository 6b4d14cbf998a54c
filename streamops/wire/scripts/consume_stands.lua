-- Whether the letter that a marker names is in the queue. One that was replayed or purged meanwhile counts no more, so
-- that an entry that dies again has another one.
local function stands(queue, marker)
  local id = redis.call('GET', marker)
  return id and redis.call('XRANGE', queue, id, id)[1] ~= nil
end
