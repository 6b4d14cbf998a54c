-- Makes entries pending under a consumer's name that are pending under nobody's: their group was destroyed, and is
-- there again. Without its list of pending entries nobody would ever be given them again.
-- KEYS[1]: the stream. ARGV: the group, the consumer, then of each entry its ID and its deliveries.
-- Returns {IDs that are ours now, IDs that are another's, IDs of entries that are gone}.
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]

local ours, lost, gone = {}, {}, {}
for at = 3, #ARGV, 2 do
  local id, list = ARGV[at], ours
  local row = redis.call('XPENDING', key, group, id, id, 1)[1]
  if row then
    if row[2] ~= consumer then list = lost end
  elseif redis.call('XRANGE', key, id, id)[1] then
    redis.call('XCLAIM', key, group, consumer, 0, id, 'RETRYCOUNT', ARGV[at + 1], 'FORCE', 'JUSTID')
  else
    list = gone
  end
  list[#list + 1] = id
end
return {ours, lost, gone}
