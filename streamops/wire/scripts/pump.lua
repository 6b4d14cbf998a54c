-- Moves due messages to where they go, the first due first; none twice, for whoever is moved is a member no more.
-- KEYS: the queue, the bodies, the dead letters, then destinations.
-- ARGV: the most messages and about the most bytes of bodies to look at, the stream, what the names of its retry
-- streams begin with, then destinations that cannot be keys beside these.
-- What can never become an entry goes to the dead letters, its body as it is. What cannot become one now waits for a
-- minute, so that others can pass; so does what a later version wrote, for workers of that version, and once a message
-- without a body: others may write the two halves apart.
-- Returns {messages moved, when the next is due or '', the clock, {destinations that are not among the keys},
-- {ID, why it went to the dead letters, ...}, {key that cannot be written to, or the queue, why, messages, ...}, bodies
-- without a message}; instants in milliseconds.
-- @include guard
-- @include delayed_body
local WAIT = 60000
-- A score with half a millisecond: its message had no body before either.
local WAITED = 0.5
-- How many bodies are read at once, at first and at most.
local FIRST, TOGETHER = 4, 16
local NOBODY = 'streamops:no-such-group'

local queue, bodies, letters = KEYS[1], KEYS[2], KEYS[3]
local most_bytes = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local due = redis.call('ZRANGEBYSCORE', queue, '-inf', now, 'LIMIT', 0, ARGV[1])

local known, barred = {}, {}
for at = 4, #KEYS do known[KEYS[at]] = {} end
for at = 5, #ARGV do barred[ARGV[at]] = true end

local done, gone, moved, bytes = {}, 0, 0, 0
local unknown, buried, failed, failures = {}, {}, {}, {}

if #due > 0 then
  -- These change nothing. They fail where an entry, once added, could not be taken off the queue, or memory is short.
  redis.call('ZADD', queue, 'XX', 0, NOBODY)
  redis.call('ZREM', queue, NOBODY)
  redis.call('HDEL', bodies, NOBODY)
end

local function park(id, marker) redis.call('ZADD', queue, 'XX', string.format('%.1f', now + WAIT + marker), id) end

local function fail(key, id, err)
  if not failures[key] then
    failures[key] = #failed + 3
    failed[#failed + 1], failed[#failed + 2], failed[#failed + 3] = key, err, 0
  end
  failed[failures[key]] = failed[failures[key]] + 1
  park(id, 0)
end

local function bury(id, raw, why)
  local score = redis.call('ZSCORE', queue, id)
  local added = redis.pcall('XADD', letters, '*', 'id', id, 'due', score, 'body', raw or '',
    '_so_origin', ARGV[3], '_so_reason', 'undecodable', '_so_error', 'delayed message ' .. id .. ': ' .. why)
  if type(added) == 'table' then return fail(letters, id, added.err) end
  gone = gone + 1
  done[gone] = id
  buried[#buried + 1], buried[#buried + 2] = id, why
end

local function retry_stream_of(group)
  return ARGV[4] .. string.gsub(string.gsub(group, '%%', '%%25'), ':', '%%3A')
end

-- Sees to it that a group reads its retry stream; the error where it cannot.
local function ensure_group(destination, group)
  if known[destination][group] or destination ~= retry_stream_of(group) then return end
  if not group_of(destination, group) then
    local made = redis.pcall('XGROUP', 'CREATE', destination, group, '0', 'MKSTREAM')
    if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made.err end
  end
  known[destination][group] = true
end

local function move(id, body, raw)
  local destination, group = body[2], body[3]
  if barred[destination] then return bury(id, raw, 'its destination is in another slot') end
  if not known[destination] then
    unknown[destination] = true
    return
  end
  local problem = group ~= '' and ensure_group(destination, group)
  if problem then return fail(destination, id, problem) end
  local added = redis.pcall('XADD', destination, '*', unpack(entry_parts(body)))
  if type(added) == 'table' then return fail(destination, id, added.err) end
  gone = gone + 1
  done[gone] = id
  moved = moved + 1
end

local function look(id, raw)
  if raw then
    bytes = bytes + #raw
    local body, problem = read_body(raw)
    if body then
      move(id, body, raw)
    elseif problem == LATER then
      -- Workers of that version are there, or come.
      fail(queue, id, problem)
    else
      bury(id, raw, problem)
    end
  elseif tonumber(redis.call('ZSCORE', queue, id)) % 1 == WAITED then
    bury(id, false, 'it has no body')
  else
    park(id, WAITED)
  end
end

-- Bodies are read by some at a time, as many as there is room for if they are like those before them.
local looked, together = 0, FIRST
while looked < #due and bytes < most_bytes do
  local last = math.min(#due, looked + together)
  local raws = redis.call('HMGET', bodies, unpack(due, looked + 1, last))
  for number = 1, #raws do
    looked = looked + 1
    look(due[looked], raws[number])
    if bytes >= most_bytes then break end
  end
  together = math.min(TOGETHER, 2 * together, math.max(1, math.floor((most_bytes - bytes) * looked / (bytes + 1))))
end
if gone > 0 then
  redis.call('ZREM', queue, unpack(done))
  redis.call('HDEL', bodies, unpack(done))
end

local missing = {}
for destination in pairs(unknown) do missing[#missing + 1] = destination end
local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2] or ''
local strays = redis.call('HLEN', bodies) - redis.call('ZCARD', queue)
return {moved, first, now, missing, buried, failed, strays}
