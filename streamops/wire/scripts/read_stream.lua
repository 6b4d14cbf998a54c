-- One consistent reading of a stream and its groups, without a byte of payload.
-- KEYS[1]: the stream.
-- ARGV, only where an earlier reading is still at hand: its length, first and last entry ID, and then the
-- positions after which the next entry is known.
-- Returns { XLEN, stream, groups }:
--   stream  {first entry ID, last entry ID, size of the larger one, last generated ID, entries added, greatest
--           deleted ID}, or 1 where its entries are the ones already known, or an error reply;
--   groups  one {name, consumers, pending, position, entries read, lag, oldest pending row, next entry's ID} a
--           group, where 1 as next ID says that the known one still holds; or an error reply.
-- What there is not is false; what was refused is an error reply; numbers beyond those that Lua knows are in digits.
-- A stream with more groups than a script can read within its time is false as a whole.
-- Redis copies whole entries into a script, which for entries of megabytes takes milliseconds: that is why
-- a stream that has not changed is recognised by ranges that are empty.
local MOST_GROUPS = 1000
local key = KEYS[1]

local length = redis.pcall('XLEN', key)
if type(length) == 'table' then return length end

local function size(entry)
  local bytes = 0
  for _, part in ipairs(entry[2]) do bytes = bytes + #part end
  return bytes
end

-- Lua's numbers are exact up to 2^53, and come back negative from 2^63 on.
local function whole(number)
  return number and number > 9007199254740991 and string.format('%.0f', number) or number or false
end

local function fields(flat)
  local named = {}
  for at = 1, #flat, 2 do named[flat[at]] = flat[at + 1] end
  return named
end

local function is_empty(from, to)
  local entries = redis.pcall('XRANGE', key, from, to, 'COUNT', 1)
  return not entries.err and #entries == 0
end

local function is_known()
  return ARGV[1] and tonumber(ARGV[1]) == length
    and is_empty('(' .. ARGV[3], '+') and is_empty('-', '(' .. ARGV[2])
end

local known, last_id = is_known(), false
local stream, heads = 1, {}
if known then
  last_id = ARGV[3]
  for at = 4, #ARGV do heads[ARGV[at]] = 1 end
else
  stream = redis.pcall('XINFO', 'STREAM', key)
  if not stream.err then
    local info = fields(stream)
    if info['groups'] > MOST_GROUPS then return false end
    local first, last = info['first-entry'], info['last-entry']
    last_id = last and last[1]
    stream = {
      first and first[1], last_id, last and math.max(size(first), size(last)) or 0,
      info['last-generated-id'], whole(info['entries-added']), info['max-deleted-entry-id'] or false,
    }
  end
end

local function oldest(name)
  local rows = redis.pcall('XPENDING', key, name, '-', '+', 1)
  local row = rows[1]
  if row then row[4] = whole(row[4]) end
  return rows.err and rows or row or false
end

local function head(position)
  if length == 0 or position == last_id then return false end
  if heads[position] == nil then
    local after = redis.pcall('XRANGE', key, '(' .. position, '+', 'COUNT', 1)
    heads[position] = after.err and after or after[1] and after[1][1] or false
  end
  return heads[position]
end

local groups = redis.pcall('XINFO', 'GROUPS', key)
if not groups.err then
  if #groups > MOST_GROUPS then return false end
  for number, flat in ipairs(groups) do
    local group = fields(flat)
    local position = group['last-delivered-id']
    groups[number] = {
      group['name'], group['consumers'], group['pending'], position,
      whole(group['entries-read']), whole(group['lag']),
      group['pending'] > 0 and oldest(group['name']), head(position),
    }
  end
end

return {length, stream, groups}
