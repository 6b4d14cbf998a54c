-- Adds pending entries of a group to their stream anew, those that are idle for long enough, each in the same moment in
-- which it is acknowledged.
-- KEYS: the stream, the origins noted down. ARGV: the group, the least idle time in milliseconds, how many other groups
-- the stream has, these, then of each entry its ID, the ID that it was born with, and which delivery the next one is.
-- Returns of each {1}, {0} where it is as the caller saw it no more, or {-1, what failed}; of fewer where it cannot go on.
-- @include hand_on
-- @include origins
local key, notes, group, min_idle, others = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local _, err = told_positions({{1, {group, unpack(ARGV, 4, 3 + others)}, false, false}})
if err then return err end
local full = out_of_memory(key)
if full then return full end
-- Nothing is rolled back: what follows an addition is asked for before.
local allowed = redis.pcall('XACK', key, group, '0-0')
if type(allowed) == 'table' then return allowed end
local problem = refused_notes(notes)
if problem then return problem end

-- Sets a field's last value, or adds the field.
local function set(parts, name, value)
  for at = #parts - 1, 1, -2 do
    if parts[at] == name then
      parts[at + 1] = value
      return
    end
  end
  parts[#parts + 1], parts[#parts + 2] = name, value
end

local became = {}
for at = 4 + others, #ARGV, 3 do
  local id, origin = ARGV[at], ARGV[at + 1]
  local row = redis.call('XPENDING', key, group, id, id, 1)[1]
  local entry = row and row[3] >= min_idle and redis.call('XRANGE', key, id, id)[1]
  if entry then
    local parts = without_origin(entry[2])
    parts[#parts + 1], parts[#parts + 2] = ORIGIN_ID, origin
    set(parts, '_so_attempt', ARGV[at + 2])
    local added, why = add(key, parts, #parts)
    if not added and is_everybodys(why) then
      if #became == 0 then return {err = why} end
      break
    end
    if added then
      note_origin(notes, added, origin)
      redis.call('XACK', key, group, id)
    end
    became[#became + 1] = added and {1} or {-1, why}
  else
    became[#became + 1] = {0}
  end
end
forget_origins(notes)
return became
