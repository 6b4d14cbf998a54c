-- Takes letters out of a dead-letter queue and hands their entries on, each in the same moment.
-- KEYS[1]: the queue; then the keys that routes and groups name by their number.
-- ARGV[1], as MessagePack:
--   mode       republish, redeliver or retry
--   source     the stream of letters that do not name one
--   anywhere   whether the stream that a letter names does not matter
--   routes     {[stream, zero byte, group] = {key of the stream, key to write to, group, key of the origins noted
--              down where it is republished}}: which letters go where
--   guarded    whether the queue is none by its name: then no group may miss what is taken out
--   groups     {{key of a stream, {group, ...}, ...}, ...}: what the plan told of, see hand_on
--   edits      {{name, value}, ...}
--   tags       of the streams whose payloads letters may refer to; any other reference is a field like others
--   payloads   {[name of a key] = 1}: payloads that were seen to
--   after, last, count, bytes, step    a range, how many letters and bytes at most, how many letters at first
--   ids        instead of a range: these letters
--   shipped    {[ID] = {stream's ID or false, {name, value, ...}}}: letters that had to be taken apart
-- Returns {ID of the last letter looked at, how many were, 1 at the end, bytes, how many moved,
-- {{ID, why it was left}, ...}, {{ID, what failed}, ...}, {{ID, its payload's key}, ...}}: the last have to come
-- again, with their payloads seen to or their fields taken apart. The first of them ends a range before it, so
-- that no letter overtakes another.
-- @include hand_on
-- @include in_use
-- @include dead_letter_fields
-- @include beside
-- @include origins
local LARGEST_STEP = 64
local queue, how = KEYS[1], cmsgpack.unpack(ARGV[1])
local moved, bytes, seen = 0, 0, 0
local left, failed, again, done = {}, {}, {}, {}
-- The error of what nobody's entry can do; nothing was written then.
local refused
local republishing, editing = how.mode == 'republish', #how.edits > 0
local anywhere, source, routes, taken = how.anywhere, how.source, how.routes, how.shipped

local positions, err = told_positions(how.groups)
if err then return err end
local used = how.guarded and in_use(queue, how.last or how.ids[#how.ids])
if used then return used end
-- Memory is looked at until a script has called something that writes, and that is what asking for XDEL does.
if how.mode ~= 'redeliver' then
  local full = out_of_memory(queue)
  if full then return full end
end
-- Nothing is rolled back: what must be taken out after it was handed on is asked for before.
local allowed = redis.pcall('XDEL', queue, '0-0')
if type(allowed) == 'table' then return allowed end

-- The route of the letter; most letters take the same one as those before them.
local at_stream, at_group, at_route
local function route_of()
  local stream = anywhere and '' or letter.origin or source
  local group = republishing and '' or letter.group or ''
  if stream ~= at_stream or group ~= at_group then
    at_stream, at_group, at_route = stream, group, routes[stream .. '\0' .. group]
  end
  return at_route
end

local notes = {}
if republishing then
  for _, route in pairs(routes) do notes[route[4]] = KEYS[route[4]] end
end
for _, key in pairs(notes) do
  local problem = refused_notes(key)
  if problem then return problem end
end

local ways = {}

function ways.republish(id, route)
  if letter.born then append(ORIGIN_ID, letter.born) end
  append('_so_replay_of', id)
  local added, why = add(KEYS[route[2]], OWN, count)
  if added and letter.born then note_origin(KEYS[route[4]], added, letter.born) end
  return added, why
end

function ways.retry(id, route)
  append('_so_origin', KEYS[route[1]])
  append(ORIGIN_ID, letter.born or id)
  append('_so_group', route[3])
  append('_so_attempt', '1')
  append('_so_replay_of', id)
  return add_for_group(KEYS[route[2]], route[3], OWN, count)
end

function ways.redeliver(_, route)
  return redeliver(KEYS[route[1]], route[3], positions[route[1] .. ' ' .. route[3]], letter.origin_id)
end
local way = ways[how.mode]

-- Whether a letter refers to a payload that was not seen to.
local function lacks_payload()
  if not letter.payload or how.payloads[letter.payload] then return false end
  for _, tag in ipairs(how.tags) do
    if begins_with(letter.payload, tag .. PAYLOADS) then return true end
  end
  return false
end

-- Hands one letter on; where that is not possible, it stays and is told of.
local function replay(id, parts)
  bytes = bytes + read_letter(parts)
  local shipped = taken[id]
  if shipped then
    letter.origin_id, letter.born = shipped[1], shipped[1]
    OWN, count = shipped[2], #shipped[2]
    letter.payload = shipped[3]
  elseif not letter.born and is_foreign() then
    again[#again + 1] = {id, ''}
    return
  end
  local route = route_of()
  if not route then
    left[#left + 1] = {id, 'it names a stream or group that is not in the plan'}
    return
  end
  if lacks_payload() then
    again[#again + 1] = {id, letter.payload}
    return
  end
  if editing then edit(how.edits) end
  local handed, why = way(id, route)
  if handed then
    done[#done + 1] = id
  elseif handed == false then
    left[#left + 1] = {id, why}
  elseif is_everybodys(why) and moved + #done == 0 then
    refused = {err = why}
  else
    failed[#failed + 1] = {id, why}
  end
end

-- Letters at the queue's very beginning are trimmed off, which costs a tenth of deleting each.
local at_beginning
local function trim(entries)
  local first, last = entries[1][1], entries[#entries][1]
  if at_beginning == nil then
    at_beginning = #redis.call('XRANGE', queue, '-', '(' .. first, 'COUNT', 1) == 0
  end
  at_beginning = at_beginning and #done == #entries
  if not at_beginning then return false end
  local trimmed = redis.pcall('XTRIM', queue, 'MINID', '=', last)
  if type(trimmed) == 'table' then return false end
  redis.call('XDEL', queue, last)
  return true
end

local function take_out(entries)
  if #done == 0 then
    at_beginning = false
    return
  end
  if not (entries and trim(entries)) then redis.call('XDEL', queue, unpack(done)) end
  moved = moved + #done
  done = {}
end

local function told(after, ended)
  if refused then return refused end
  take_out()
  for _, key in pairs(notes) do forget_origins(key) end
  return {after, seen, ended, bytes, moved, left, failed, again}
end

if how.ids then
  for _, id in ipairs(how.ids) do
    local entry = redis.call('XRANGE', queue, id, id)[1]
    if entry then replay(id, entry[2]) else left[#left + 1] = {id, 'it is not in the queue any more'} end
    seen = seen + 1
    if bytes >= how.bytes or refused then break end
  end
  return told(how.ids[seen], seen == #how.ids and 1 or 0)
end

local after, step = how.after, how.step
while seen < how.count and bytes < how.bytes do
  local asked = math.min(step, how.count - seen)
  local entries = redis.call('XRANGE', queue, '(' .. after, how.last, 'COUNT', asked)
  for at = 1, #entries do
    replay(entries[at][1], entries[at][2])
    if again[1] then break end
    seen, after = seen + 1, entries[at][1]
  end
  if refused then return refused end
  take_out(entries)
  if again[1] then return told(after, 0) end
  -- Nothing can be asked for after the very last ID.
  if #entries < asked or after == how.last then return told(after, 1) end
  step = math.max(1, math.min(LARGEST_STEP, math.floor((how.bytes - bytes) * seen / (bytes + 1))))
end
return told(after, 0)
