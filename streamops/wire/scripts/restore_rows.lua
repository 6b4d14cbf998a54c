-- Gives pending rows back their owner, their time of delivery and their deliveries, as long as nothing has happened
-- to them since.
-- KEYS: the stream, and perhaps what says which rows were dealt with before. ARGV: the group, its position in the plan,
-- what was done to the rows ("claimed": they have the owner in the next argument now; "nacked": they have the owner
-- they had; "acked": they are not pending), that owner, when in milliseconds, "write" or "look", what the second key is:
-- "marker", a number of rows, "given", a hash of IDs, or nothing; what the marker says, the number to add these rows
-- to, seconds that the key is kept, then runs of rows that are alike: owner, time of delivery, deliveries, how many, IDs.
-- Returns what came of each row: "restored", or "gone", "owner", "delivered", "pending", "again", "rewound", "missing";
-- of fewer rows where looking at their entries took long.
-- @include guard
-- Bytes of entries copied into the script to see whether they exist, and milliseconds by which the clock may be read
-- beside a row.
local LARGEST_LOOK, SLACK = 1048576, 50
local key, group, what, holder = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local since, writes = tonumber(ARGV[5]), ARGV[6] == 'write'
local problem, found = group_drift(key, group, ARGV[2])
if problem then return problem end
local marker, given = ARGV[7] == 'marker' and KEYS[2], ARGV[7] == 'given' and KEYS[2]
if marker and (redis.call('GET', marker) or '0') ~= ARGV[8] then
  return drift('somebody else restored more of this file meanwhile')
end

if not found then
  local err
  found, err = group_of(key, group)
  if err then return err end
end
local position = found['last-delivered-id']
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local walked = 0

local function exists(id)
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not entry then return false end
  for _, part in ipairs(entry[2]) do walked = walked + #part end
  return true
end

-- Deliveries as text; many rows in a row have as many.
local number, text
local function written(count)
  if count ~= number then number, text = count, string.format('%.0f', count) end
  return text
end

local function objection(row, id, owner, deliveries)
  if what == 'acked' then
    if row then return 'pending' end
    -- Given back before, and acknowledged since.
    if given and redis.call('HGET', given, id) then return 'again' end
    if less(position, id) then return 'rewound' end
    return
  end
  if not row then return 'gone' end
  if row[2] ~= (what == 'claimed' and holder or owner) then return 'owner' end
  if written(row[4]) ~= deliveries or now - row[3] > since + SLACK then return 'delivered' end
end

-- Rows as they are, by ID: one reading of many costs a fraction of many readings. What it leaves out is read by itself.
local FIRST = 11
local seen = {}
if what ~= 'acked' and #ARGV > FIRST + 4 then
  local rows = redis.call('XPENDING', key, group, ARGV[FIRST + 4], ARGV[#ARGV], #ARGV - FIRST - 3)
  for _, row in ipairs(rows) do seen[row[1]] = row end
end

-- IDs that get the same and are claimed together, and whose answers in `came` wait for it.
local came, ids, places = {}, {}, {}

local function claim_together(owner, delivered, deliveries)
  local count = #ids
  if count == 0 then return end
  ids[count + 1], ids[count + 2], ids[count + 3], ids[count + 4] = 'TIME', delivered, 'RETRYCOUNT', deliveries
  ids[count + 5] = 'JUSTID'
  local done = {}
  for _, id in ipairs(redis.call('XCLAIM', key, group, owner, 0, unpack(ids))) do done[id] = true end
  for number = 1, count do came[places[number]] = done[ids[number]] and 'restored' or 'missing' end
  ids, places = {}, {}
end

local function claim_by_force(id, owner, delivered, deliveries)
  if given then
    redis.call('HSET', given, id, 1)
    redis.call('EXPIRE', given, ARGV[10])
  end
  local done = #redis.call('XCLAIM', key, group, owner, 0, id, 'TIME', delivered, 'RETRYCOUNT', deliveries, 'JUSTID',
    'FORCE') == 1
  if given and not done then redis.call('HDEL', given, id) end
  return done
end

local function restore(id, owner, delivered, deliveries)
  local row = seen[id]
  if row then
    -- Whoever is named again may have been given back by then.
    seen[id] = nil
  else
    claim_together(owner, delivered, deliveries)
    row = redis.call('XPENDING', key, group, id, id, 1)[1]
  end
  local place = #came + 1
  local done
  came[place] = objection(row, id, owner, deliveries)
  if came[place] then return end
  if not writes then
    done = what ~= 'acked' or exists(id)
  elseif what == 'acked' then
    done = claim_by_force(id, owner, delivered, deliveries)
  else
    ids[#ids + 1], places[#places + 1] = id, place
  end
  came[place] = done and 'restored' or 'missing'
end

local at = FIRST
while at < #ARGV and walked <= LARGEST_LOOK do
  local owner, delivered, deliveries, last = ARGV[at], ARGV[at + 1], ARGV[at + 2], at + 3 + ARGV[at + 3]
  for place = at + 4, last do
    restore(ARGV[place], owner, delivered, deliveries)
    if walked > LARGEST_LOOK then break end
  end
  claim_together(owner, delivered, deliveries)
  at = last + 1
end
if marker then redis.call('SET', marker, ARGV[9] + #came, 'EX', ARGV[10]) end
return came
