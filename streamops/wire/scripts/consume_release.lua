-- Gives a page of a consumer's pending entries back, all but some: makes their rows look as if they had been idle for
-- so long. Deliveries stay as they are counted. Rows of entries that were deleted stay as they are, for whoever takes
-- them over to tell of them.
-- KEYS[1]: the stream. ARGV: the group, the consumer, the idle time to set in milliseconds, the ID to begin after or
-- '-', how many rows to look at, then IDs to keep.
-- Returns {how many were given back, the ID to begin after next, or '' at the end}.
-- @include consume_there
local LAST_ID = '18446744073709551615-18446744073709551615'
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local kept, own = {}, {}
for at = 6, #ARGV do kept[ARGV[at]] = true end

local start = ARGV[4] == '-' and '-' or '(' .. ARGV[4]
local page = redis.call('XPENDING', key, group, start, '+', ARGV[5], consumer)
for _, row in ipairs(page) do
  if not kept[row[1]] then own[#own + 1] = row[1] end
end
local ids = sort_out(key, own)
local released = 0
if #ids > 0 then
  ids[#ids + 1], ids[#ids + 2], ids[#ids + 3] = 'IDLE', ARGV[3], 'JUSTID'
  released = #redis.call('XCLAIM', key, group, consumer, 0, unpack(ids))
end
local last = #page == tonumber(ARGV[5]) and page[#page][1] or ''
-- Nothing can be asked for after the very last ID.
return {released, last ~= LAST_ID and last or ''}
