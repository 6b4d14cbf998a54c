-- What a dead letter says about itself, told apart from the entry that died.

-- What it says, by field; every other field is the entry's own.
local ABOUT = {
  _so_origin = 'origin', _so_origin_id = 'origin_id', _so_group = 'group', _so_consumer = 'consumer',
  _so_reason = 'reason', _so_error = 'error', _so_deliveries = 'deliveries', _so_attempt = 'attempt',
  _so_failed_at = 'failed_at',
}

-- The letter that was read last: one table for all, because making one for each costs as much as reading it.
-- Of its origin IDs the first is the one that the entry was born with, the last the one that it died with.
local letter = {origin = false, origin_id = false, born = false, group = false, reason = false, payload = false}

-- Its entry's own fields and values in their order: so many of OWN.
local OWN, count = {}, 0

local function is_part(digits)
  return digits == '0' or #digits < 20 and string.byte(digits) ~= 48
end

-- Whether a text is an entry ID in full, as a server writes it and any server takes it.
local function is_id(text)
  local ms, seq = string.match(text, '^(%d+)%-(%d+)$')
  return ms and is_part(ms) and is_part(seq)
end

-- Reads a letter; its size in bytes.
local function read_letter(parts)
  letter.origin, letter.origin_id, letter.born, letter.group = false, false, false, false
  letter.reason, letter.payload = false, false
  count = 0
  local bytes = 0
  for at = 1, #parts, 2 do
    local name, value = parts[at], parts[at + 1]
    local about = ABOUT[name]
    bytes = bytes + #name + #value
    if not about then
      OWN[count + 1], OWN[count + 2] = name, value
      count = count + 2
      if name == '_so_payload' and value ~= '' then letter.payload = value end
    elseif about == 'origin_id' then
      if is_id(value) then letter.origin_id, letter.born = value, letter.born or value end
    elseif letter[about] ~= nil and value ~= '' then
      letter[about] = value
    end
  end
  return bytes
end

-- Whether it was written by others as {orig_id, reason, payload}, which only the caller can take apart.
local function is_foreign()
  if letter.origin or letter.born then return false end
  local has = {}
  for at = 1, count, 2 do has[OWN[at]] = true end
  return has.orig_id and has.reason and has.payload
end

-- Adds a field behind its own.
local function append(name, value)
  OWN[count + 1], OWN[count + 2] = name, value
  count = count + 2
end

-- Puts edited values in: at every field of that name, or at the end where there is none.
local function edit(edits)
  for _, pair in ipairs(edits) do
    local found = false
    for at = 1, count, 2 do
      if OWN[at] == pair[1] then OWN[at + 1], found = pair[2], true end
    end
    if not found then append(pair[1], pair[2]) end
  end
end
