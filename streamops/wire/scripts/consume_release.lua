-- Gives a page of a consumer's pending entries back, all but some: makes their rows look as if they had been idle for
-- so long. Deliveries stay as they are counted, but for entries that were delivered once and never came: those count as
-- never delivered. Rows of entries that were deleted stay as they are, for whoever takes them over to tell of them.
-- KEYS[1]: the stream. ARGV: the group, the consumer, the idle time to set in milliseconds, the ID to begin after or
-- '-', how many rows to look at, the ID after which entries may never have come or '' where all of them did, how many
-- IDs to keep, these, then other IDs of entries that came.
-- Returns {how many were given back, the ID to begin after next, or '' at the end}.
-- @include consume_there
local LAST_ID = '18446744073709551615-18446744073709551615'
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local seen, last_kept = ARGV[6], 7 + ARGV[7]
local kept, came, own, counted = {}, {}, {}, {}
for at = 8, #ARGV do (at <= last_kept and kept or came)[ARGV[at]] = true end

local start = ARGV[4] == '-' and '-' or '(' .. ARGV[4]
local page = redis.call('XPENDING', key, group, start, '+', ARGV[5], consumer)
for _, row in ipairs(page) do
  local id = row[1]
  if not kept[id] then
    own[#own + 1] = id
    counted[id] = came[id] or row[4] > 1 or seen == '' or not less(seen, id)
  end
end

local function release(ids, ...)
  if #ids == 0 then return end
  for _, word in ipairs({'IDLE', ARGV[3], 'JUSTID', ...}) do ids[#ids + 1] = word end
  redis.call('XCLAIM', key, group, consumer, 0, unpack(ids))
end

local there = sort_out(key, own)
local released, started, unstarted = #there, {}, {}
for _, id in ipairs(there) do
  local list = counted[id] and started or unstarted
  list[#list + 1] = id
end
release(started)
release(unstarted, 'RETRYCOUNT', 0)
local last = #page == tonumber(ARGV[5]) and page[#page][1] or ''
-- Nothing can be asked for after the very last ID.
return {released, last ~= LAST_ID and last or ''}
