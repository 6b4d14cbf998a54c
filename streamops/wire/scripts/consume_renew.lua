-- Renews the leases of entries that are still pending under a consumer's name, or gives them back: makes their rows
-- look as if they had been idle for so long.
-- KEYS[1]: the stream. ARGV: the group, the consumer, the idle time to set in milliseconds, the deliveries to set or -1
-- to leave them as they are counted, then IDs, a few thousand at most.
-- Returns {IDs that are not ours, IDs of ours whose entries were deleted: their rows stay as they are, 1 where the group
-- has no consumer of that name although some of them are not ours}.
-- @include consume_rows
-- @include consume_there
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]

local own_ids, lost = {}, {}
local asked = {unpack(ARGV, 5)}
local own = own_ones(key, group, consumer, asked)
for _, id in ipairs(asked) do
  local list = own[id] and own_ids or lost
  list[#list + 1] = id
end

local function is_stranger()
  for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', key, group)) do
    for at = 1, #one, 2 do
      if one[at] == 'name' and one[at + 1] == consumer then return false end
    end
  end
  return true
end
local bereft = #lost > 0 and is_stranger() and 1 or 0
if #own_ids == 0 then return {lost, {}, bereft} end

local ids, gone = sort_out(key, own_ids)
if #ids > 0 then
  ids[#ids + 1], ids[#ids + 2] = 'IDLE', ARGV[3]
  if ARGV[4] ~= '-1' then ids[#ids + 1], ids[#ids + 2] = 'RETRYCOUNT', ARGV[4] end
  ids[#ids + 1] = 'JUSTID'
  redis.call('XCLAIM', key, group, consumer, 0, unpack(ids))
end
return {lost, gone, bereft}
