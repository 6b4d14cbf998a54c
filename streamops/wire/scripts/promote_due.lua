-- Moves due messages to where they go, the first due first; none twice, for whoever is moved is a member no more.
-- KEYS: the queue, the bodies, the dead letters, then destinations.
-- ARGV: the most messages and about the most bytes of bodies to look at, the stream, its tag, how many members at the
-- front were passed before and the last of these.
-- A member that is no delayed message is another program's, or its body is still to be written; one of a later version is
-- for workers of that version. Both are passed and stay as they are. What can never become an entry of the stream or of
-- one of its retry streams goes to the dead letters, its body as it is. What cannot become one now waits for a minute, so that others can pass.
-- Returns {messages moved, when the next is due or '', the clock, {destinations that are not among the keys},
-- {ID, why it went to the dead letters, ...}, {key that cannot be written to, or the queue, why, messages, ...}, bodies
-- without a message, foreign members, how many members at the front are passed by now, the last of these}; instants in
-- milliseconds.
-- @include guard
-- @include delayed_body
-- @include beside
-- @include dead_letter_write
local WAIT = 60000
-- How many bodies are read at once, at first and at most.
local FIRST, TOGETHER = 4, 16
local NOBODY = 'streamops:no-such-group'

local queue, bodies, letters = KEYS[1], KEYS[2], KEYS[3]
local most, most_bytes, stream, tag = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local passed, last = tonumber(ARGV[5]), ARGV[6]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Where others came or went before the last one passed, all are looked at again.
if passed > 0 and redis.call('ZRANGE', queue, passed - 1, passed - 1)[1] ~= last then passed, last = 0, '' end
local rows = redis.call('ZRANGE', queue, passed, passed + most, 'WITHSCORES')
local due, scores = {}, {}
for at = 1, #rows, 2 do
  due[#due + 1], scores[#scores + 1] = rows[at], tonumber(rows[at + 1])
end
local first_left = #due + 1
for number = 1, #due do
  if scores[number] > now or number > most then
    first_left = number
    break
  end
end
local next_due = scores[first_left] or math.huge

local known = {}
for at = 4, #KEYS do known[KEYS[at]] = {} end

local done, gone, moved, bytes, foreign = {}, 0, 0, 0, 0
local unknown, buried, failed, failures = {}, {}, {}, {}

if first_left > 1 then
  -- These change nothing. They fail where an entry, once added, could not be taken off the queue, or memory is short.
  redis.call('ZADD', queue, 'XX', 0, NOBODY)
  redis.call('ZREM', queue, NOBODY)
  redis.call('HDEL', bodies, NOBODY)
end

local function refuse(key, err)
  if not failures[key] then
    failures[key] = #failed + 3
    failed[#failed + 1], failed[#failed + 2], failed[#failed + 3] = key, err, 0
  end
  failed[failures[key]] = failed[failures[key]] + 1
end

local function fail(key, id, err)
  refuse(key, err)
  redis.call('ZADD', queue, 'XX', string.format('%.0f', now + WAIT), id)
  next_due = math.min(next_due, now + WAIT)
end

-- Leaves a member where it is. Those behind one whose destination is not known yet are looked at again with it.
local function pass(id)
  if not next(unknown) then passed, last = passed + 1, id end
end

local function bury(number, raw, why)
  local id = due[number]
  local score = redis.call('ZSCORE', queue, id)
  local added = write_letter(letters, { 'id', id, 'due', score, 'body', raw,
    '_so_origin', stream, '_so_reason', 'undecodable', '_so_error', 'delayed message ' .. id .. ': ' .. why })
  if type(added) == 'table' then return fail(letters, id, added.err) end
  gone = gone + 1
  done[gone] = id
  buried[#buried + 1], buried[#buried + 2] = id, why
end

local function retry_stream_of(group)
  return tag .. RETRIES .. string.gsub(string.gsub(group, '%%', '%%25'), ':', '%%3A')
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

local function move(number, body, raw)
  local id, destination, group = due[number], body[2], body[3]
  if not is_stream_of(destination, tag) and not begins_with(destination, tag .. RETRIES) then
    return bury(number, raw, 'it names another stream')
  end
  if not known[destination] then
    unknown[destination] = true
    next_due = math.min(next_due, scores[number])
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

local function look(number, raw)
  local body, problem
  if raw then
    bytes = bytes + #raw
    body, problem = read_body(raw)
  end
  if body then
    move(number, body, raw)
  elseif not raw or problem == FOREIGN then
    foreign = foreign + 1
    pass(due[number])
  elseif problem == LATER then
    refuse(queue, problem)
    pass(due[number])
  else
    bury(number, raw, problem)
  end
end

-- Bodies are read by some at a time, as many as there is room for if they are like those before them.
local looked, together = 0, FIRST
while looked < first_left - 1 and bytes < most_bytes do
  local upto = math.min(first_left - 1, looked + together)
  local raws = redis.call('HMGET', bodies, unpack(due, looked + 1, upto))
  for number = 1, #raws do
    looked = looked + 1
    look(looked, raws[number])
    if bytes >= most_bytes then break end
  end
  together = math.min(TOGETHER, 2 * together, math.max(1, math.floor((most_bytes - bytes) * looked / (bytes + 1))))
end
if looked < first_left - 1 then next_due = math.min(next_due, scores[looked + 1]) end
if gone > 0 then
  redis.call('ZREM', queue, unpack(done))
  redis.call('HDEL', bodies, unpack(done))
end

local missing = {}
for destination in pairs(unknown) do missing[#missing + 1] = destination end
local first = next_due < math.huge and string.format('%.17g', next_due) or ''
local strays = redis.call('HLEN', bodies) - redis.call('ZCARD', queue)
return {moved, first, string.format('%.0f', now), missing, buried, failed, strays, foreign, passed, last}
