-- Whose later self an entry is. Whoever adds an entry writes its fields, so that _so_origin_id is believed in a retry
-- stream, which only workers write, and where a replay noted it down: in a sorted set of "ID origin" by milliseconds.
local ORIGIN_ID, NOTES_KEPT, MOST_FORGOTTEN = '_so_origin_id', 7 * 24 * 3600 * 1000, 1000

-- The ID that fields say an entry was born with; nothing where they say none.
local function said_origin(parts)
  for at = 1, #parts, 2 do
    if parts[at] == ORIGIN_ID then return parts[at + 1] end
  end
end

-- The ID that an entry of the stream itself was born with.
local function origin_of(notes, id, parts)
  local said = said_origin(parts)
  return said and redis.call('ZSCORE', notes, id .. ' ' .. said) and said or id
end

-- An entry's fields but this one.
local function without_origin(parts)
  local kept = {}
  for at = 1, #parts, 2 do
    if parts[at] ~= ORIGIN_ID then kept[#kept + 1], kept[#kept + 2] = parts[at], parts[at + 1] end
  end
  return kept
end

local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The error, where origins cannot be noted down. This changes nothing.
local function refused_notes(notes)
  local asked = redis.pcall('ZADD', notes, 'XX', 0, '')
  if type(asked) ~= 'table' then return false end
  if string.find(asked.err, 'WRONGTYPE', 1, true) then return {err = 'ERR ' .. notes .. ' is no sorted set'} end
  return asked
end

local function note_origin(notes, id, origin)
  redis.call('ZADD', notes, string.format('%.0f', milliseconds()), id .. ' ' .. origin)
end

local function forget_origins(notes)
  local old = string.format('%.0f', milliseconds() - NOTES_KEPT)
  local forgotten = redis.call('ZRANGE', notes, '-inf', old, 'BYSCORE', 'LIMIT', 0, MOST_FORGOTTEN)
  if #forgotten > 0 then redis.call('ZREM', notes, unpack(forgotten)) end
  redis.call('EXPIRE', notes, NOTES_KEPT / 1000)
end
