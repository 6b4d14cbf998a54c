-- Writing dead letters. `letter_refused` gives the error for which none could be written; it adds nothing: no entry can have
-- the ID 0-0, but memory, permission and type are looked at before that. `write_letter` gives the ID, or the error as a table.
local function letter_refused(queue)
  local asked = redis.pcall('XADD', queue, '0-0', 'f', 'v')
  return not string.find(asked.err, '0-0', 1, true) and asked
end

local function write_letter(queue, parts)
  return redis.pcall('XADD', queue, '*', unpack(parts))
end
