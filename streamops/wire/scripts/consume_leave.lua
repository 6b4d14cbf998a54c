-- Removes a consumer from a group of a stream, or of several, where it has nothing pending in any of them: removing it
-- with something pending would lose that for good.
-- KEYS: the streams. ARGV: the group, the consumer.
-- Returns 1; or 0 where it has pending entries, and nothing was done.
local group, consumer = ARGV[1], ARGV[2]
local keys = {}
for _, key in ipairs(KEYS) do
  local rows = redis.pcall('XPENDING', key, group, '-', '+', 1, consumer)
  if rows.err then
    -- Whoever has no group any more has left it.
    if not string.find(rows.err, 'NOGROUP', 1, true) then return rows end
  elseif #rows > 0 then
    return 0
  else
    keys[#keys + 1] = key
  end
end
for _, key in ipairs(keys) do redis.call('XGROUP', 'DELCONSUMER', key, group, consumer) end
return 1
