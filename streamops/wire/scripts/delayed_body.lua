-- What a delayed message becomes: MessagePack of [1, destination, group, attempt, origin ID, [name, value, ...]], by
-- whatever writer. What is taken here for a body, and what is not, is what delayed_bodies.py says. Anything else belongs to
-- another program, and no script removes, moves or rescores it.
local VERSION, LATEST = 1, 255

-- Unpack fails beyond about eight thousand values.
local MOST_PARTS = 7800
local NIL = 0xc0
local FOREIGN = 'it is not MessagePack of a delayed message'
local LATER = 'it is written in a later version of the format'
local NO_PAIRS = 'its fields are no pairs'
-- How many bytes tell a length, by the first byte of a value.
local TEXTS = {[0xc4] = 1, [0xc5] = 2, [0xc6] = 4, [0xd9] = 1, [0xda] = 2, [0xdb] = 4}
local ARRAYS = {[0xdc] = 2, [0xdd] = 4}

-- The length that a value's head tells, and where what it holds begins; nothing where there is no such value.
local function length_at(raw, at, least, most, widths)
  local head = string.byte(raw, at)
  if not head then return nil end
  if head >= least and head <= most then return head - least, at + 1 end
  local width = widths[head]
  if not width or at + width > #raw then return nil end
  local length = 0
  for place = at + 1, at + width do length = length * 256 + string.byte(raw, place) end
  return length, at + 1 + width
end

local function array_at(raw, at) return length_at(raw, at, 0x90, 0x9f, ARRAYS) end

-- A text and where the next value begins; nil is an empty one. Nothing where there is no text.
local function text_at(raw, at)
  if string.byte(raw, at) == NIL then return '', at + 1 end
  local length, from = length_at(raw, at, 0xa0, 0xbf, TEXTS)
  if not length or from + length > #raw + 1 then return nil end
  return string.sub(raw, from, from + length - 1), from + length
end

-- A number, and where the next value begins. Nothing where there is none.
local function number_at(raw, at)
  if string.byte(raw, at) == NIL then return 0, at + 1 end
  local fine, following, value = pcall(cmsgpack.unpack_one, raw, at - 1)
  if not fine or type(value) ~= 'number' or following < 0 then return nil end
  return value, following + 1
end

-- The parts of a body by number, value by value: for those whose texts cmsgpack does not know (MessagePack's bin), and
-- those with a nil, which a table in Lua may forget. Nothing where it is no such body.
local function parts_by_value(raw)
  local count, at = array_at(raw, 1)
  if count ~= 6 then return nil end
  local body = {}
  for place, read in ipairs({number_at, text_at, text_at, number_at, text_at}) do
    body[place], at = read(raw, at)
    if not at then return nil end
  end
  local parts = {}
  count, at = array_at(raw, at)
  if not count then return nil end
  for place = 1, count do
    parts[place], at = text_at(raw, at)
    if not at then return nil end
  end
  body[6] = parts
  return at == #raw + 1 and body
end

-- The same by cmsgpack, three times as fast. Nothing where it is no such body, or not known to be one.
local byte, find, type, pcall, unpack_body = string.byte, string.find, type, pcall, cmsgpack.unpack
local function parts_at_once(raw)
  if byte(raw) ~= 0x96 or find(raw, '\192', 1, true) then return nil end
  local fine, body, more = pcall(unpack_body, raw)
  if not fine or more ~= nil then return nil end
  local parts = body[6]
  if type(body[1]) ~= 'number' or type(body[2]) ~= 'string' or type(body[3]) ~= 'string' or type(body[4]) ~= 'number'
    or type(body[5]) ~= 'string' or type(parts) ~= 'table' or #parts == 0 then return nil end
  for at = 1, #parts do
    if type(parts[at]) ~= 'string' then return nil end
  end
  return body
end

-- Whether a later version of streamops wrote it: its first value tells, whatever follows.
local function is_later(raw)
  local count, at = array_at(raw, 1)
  local version = count and count > 0 and number_at(raw, at)
  return version and version > VERSION and version <= LATEST and version == math.floor(version)
end

local function is_whole(number) return number == math.floor(number) and math.abs(number) ~= math.huge end

-- A body's parts by number; or nothing and why it cannot be read: LATER where another streamops can, FOREIGN where none
-- can.
local function read_body(raw)
  local body = parts_at_once(raw) or parts_by_value(raw)
  if not body or not is_whole(body[1]) or not is_whole(body[4]) then return nil, is_later(raw) and LATER or FOREIGN end
  if body[1] ~= VERSION then return nil, is_later(raw) and LATER or 'it is written in another version of the format' end
  if body[2] == '' then return nil, 'it names no destination' end
  local count = #body[6]
  if count == 0 or count % 2 == 1 then return nil, NO_PAIRS end
  if count > MOST_PARTS - 4 then return nil, 'it has more fields than a script can write' end
  return body
end

-- Whether a member of a queue, or a body, is another program's: no message of ours lacks a body that can be read.
local function is_foreign(raw)
  if not raw then return true end
  local _, problem = read_body(raw)
  return problem == FOREIGN
end

-- The fields of the entry that it becomes: its own, then what a retry has to know about itself.
local function entry_parts(body)
  local parts = body[6]
  if body[3] ~= '' then
    local count = #parts
    parts[count + 1], parts[count + 2] = '_so_origin_id', body[5]
    parts[count + 3], parts[count + 4] = '_so_attempt', string.format('%.0f', body[4])
  end
  return parts
end
