-- Renews the leases of entries that are still pending under a consumer's name, or gives them back: makes their rows
-- look as if they had been idle for so long. Deliveries stay as they are counted.
-- KEYS[1]: the stream. ARGV: the group, the consumer, the idle time to set in milliseconds, then IDs, a few thousand at
-- most.
-- Returns {IDs that are not ours, IDs of ours whose entries were deleted: their rows are gone too}.
-- @include consume_rows
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]

local ids, lost, gone = {}, {}, {}
local asked = {unpack(ARGV, 4)}
local own = own_ones(key, group, consumer, asked)
for _, id in ipairs(asked) do
  local list = own[id] and ids or lost
  list[#list + 1] = id
end
if #ids == 0 then return {lost, gone} end

local words = {unpack(ids)}
words[#words + 1], words[#words + 2], words[#words + 3] = 'IDLE', ARGV[3], 'JUSTID'
local claimed = redis.call('XCLAIM', key, group, consumer, 0, unpack(words))
if #claimed < #ids then
  local renewed = {}
  for _, id in ipairs(claimed) do renewed[id] = true end
  for _, id in ipairs(ids) do
    if not renewed[id] then gone[#gone + 1] = id end
  end
end
return {lost, gone}
