-- Tends a page of a group's pending entries: those that are idle for long enough are handled again, or become dead
-- letters where they were delivered too often, each in the same moment in which it is acknowledged.
-- KEYS: the stream, its dead-letter queue, the origins noted down, and the unhandled ones where the group may remember
-- business keys. ARGV: the group, 'add' or 'claim', who gets claimed entries, the least
-- idle time in milliseconds, how many deliveries are the most, where to begin and to end, how many rows to deal with
-- at most, how many to look at, at how many bytes of entries to stop, the time in words, what the fields of marks begin
-- with, and the other groups, which matter only where entries are added.
-- Returns {last ID looked at, 1 if the end was reached, how many were redelivered, buried, gone and left waiting,
-- {{ID, what failed}, ...}}.
-- @include hand_on
-- @include tend_rows
-- @include origins
-- @include unhandled
local key, queue, notes, group, way, to = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
local min_idle, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local count, look, room, now = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11]
local unhandled, prefix = KEYS[4], ARGV[12]
local adding = way == 'add'
local done, failed, bytes = {redeliver = 0, bury = 0, gone = 0, wait = 0}, {}, 0

local _, err = told_positions({{1, {group, unpack(ARGV, 13)}, false, not adding}})
if err then return err end
local full = adding and out_of_memory(key)
if full then return full end
-- Nothing is rolled back: what follows an addition is asked for before.
local allowed = redis.pcall('XACK', key, group, '0-0')
if type(allowed) == 'table' then return allowed end
local problem = adding and refused_notes(notes)
if problem then return problem end

if unhandled then
  allowed = redis.pcall('ZREM', unhandled, '')
  if type(allowed) == 'table' then return allowed end
end

local function put(parts, name, value)
  parts[#parts + 1], parts[#parts + 2] = name, value
end

local function number(value) return string.format('%.0f', value) end

-- Sets a field's last value, or adds the field.
local function set(parts, name, value)
  for at = #parts - 1, 1, -2 do
    if parts[at] == name then
      parts[at + 1] = value
      return
    end
  end
  put(parts, name, value)
end

local ways = {}

function ways.add(row, deliveries, parts)
  local origin = origin_of(notes, row[1], parts)
  parts = without_origin(parts)
  put(parts, ORIGIN_ID, origin)
  set(parts, ATTEMPT, number(deliveries + 1))
  local added, why = add(key, parts, #parts)
  if added then note_origin(notes, added, origin) end
  return added, why
end

-- The delivery is counted when its consumer reads it.
function ways.claim(row)
  -- Nobody's own: whoever reclaims takes it at once.
  local idle = to == REPLAYER and LONG_IDLE or 0
  local claimed = redis.pcall('XCLAIM', key, group, to, min_idle, row[1], 'IDLE', idle, 'JUSTID')
  if claimed.err then return nil, claimed.err end
  return true
end

local function bury(row, deliveries, parts, reason, why)
  local origin = origin_of(notes, row[1], parts)
  parts = without_origin(parts)
  if origin ~= row[1] then put(parts, ORIGIN_ID, origin) end
  put(parts, '_so_origin', key)
  put(parts, ORIGIN_ID, row[1])
  put(parts, '_so_group', group)
  put(parts, '_so_consumer', row[2])
  put(parts, '_so_reason', reason)
  put(parts, '_so_error', why)
  put(parts, '_so_deliveries', number(deliveries))
  put(parts, ATTEMPT, number(deliveries))
  put(parts, '_so_failed_at', now)
  return add(queue, parts, #parts)
end

local acts = {}

function acts.redeliver(row, deliveries, parts)
  local handed, why = ways[way](row, deliveries, parts)
  if handed and adding then redis.call('XACK', key, group, row[1]) end
  return handed, why
end

function acts.bury(row, deliveries, parts)
  local why = 'delivered ' .. number(deliveries) .. ' times and never acknowledged'
  local buried, problem = bury(row, deliveries, parts, 'max-deliveries', why)
  if buried then redis.call('XACK', key, group, row[1]) end
  return buried, problem
end

function acts.gone(row, deliveries, parts)
  local buried, problem = bury(row, deliveries, parts, 'payload-missing', 'its entry was deleted while it was pending')
  if buried then
    redis.call('XACK', key, group, row[1])
    if unhandled then note_unhandled(unhandled, {prefix .. row[1]}) end
  end
  return buried, problem
end

function acts.wait() return true end

local page = redis.call('XPENDING', key, group, ARGV[6], ARGV[7], look)
local last, ended, dealt = '', #page < look, 0
for _, row in ipairs(page) do
  if dealt == count or bytes >= room then
    ended = false
    break
  end
  if row[3] >= min_idle then
    local what, deliveries, parts = fate(key, row, most, to)
    bytes = bytes + bytes_of(parts)
    local acted, why = acts[what](row, deliveries, parts)
    if acted then
      done[what] = done[what] + 1
    elseif is_everybodys(why) then
      if dealt == 0 then return {err = why} end
      ended = false
      break
    else
      failed[#failed + 1] = {row[1], why}
    end
    if what ~= 'wait' then dealt = dealt + 1 end
  end
  last = row[1]
end
if adding then forget_origins(notes) end
return {last, ended and 1 or 0, done.redeliver, done.bury, done.gone, done.wait, failed}
