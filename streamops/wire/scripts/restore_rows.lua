-- Gives pending rows back their owner, their time of delivery and their deliveries, as long as nothing has happened
-- to them since.
-- KEYS: the stream, and perhaps what says which rows were dealt with before. ARGV: the group, its position in the plan,
-- what was done to the rows ("claimed": they have the owner in the next argument now; "nacked": they have the owner
-- they had; "acked": they are not pending), that owner, when in milliseconds, "write" or "look", what the second key is:
-- "marker", a number of rows, "given", a hash of IDs, or nothing; what the marker says, the number to add these rows
-- to, seconds that the key is kept, then of each row ID, owner, time of delivery and deliveries.
-- Returns what came of each row: "restored", or "gone", "owner", "delivered", "pending", "again", "rewound", "missing";
-- of fewer rows where looking at their entries took long.
-- @include guard
-- Bytes of entries copied into the script to see whether they exist, and milliseconds by which the clock may be read
-- beside a row.
local LARGEST_LOOK, SLACK = 1048576, 50
local key, group, what, holder = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local since, writes = tonumber(ARGV[5]), ARGV[6] == 'write'
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end
local marker, given = ARGV[7] == 'marker' and KEYS[2], ARGV[7] == 'given' and KEYS[2]
if marker and (redis.call('GET', marker) or '0') ~= ARGV[8] then
  return drift('somebody else restored more of this file meanwhile')
end

local position = groups_of(key)[group]['last-delivered-id']
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local walked = 0

local function exists(id)
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not entry then return false end
  for _, part in ipairs(entry[2]) do walked = walked + #part end
  return true
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
  -- XNACK leaves no owner, and no time.
  if what == 'nacked' and row[2] == '' then
    return string.format('%.0f', row[4]) ~= deliveries and 'delivered' or nil
  end
  if row[2] ~= (what == 'claimed' and holder or owner) then return 'owner' end
  if string.format('%.0f', row[4]) ~= deliveries or now - row[3] > since + SLACK then return 'delivered' end
end

local function restored(id, owner, delivered, deliveries)
  if not writes then return what ~= 'acked' or exists(id) end
  local words = {'XCLAIM', key, group, owner, 0, id, 'TIME', delivered, 'RETRYCOUNT', deliveries, 'JUSTID'}
  if what == 'acked' then words[#words + 1] = 'FORCE' end
  if given then
    redis.call('HSET', given, id, 1)
    redis.call('EXPIRE', given, ARGV[10])
  end
  local done = #redis.call(unpack(words)) == 1
  if given and not done then redis.call('HDEL', given, id) end
  return done
end

local came = {}
for at = 11, #ARGV, 4 do
  local id, owner, delivered, deliveries = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local row = redis.call('XPENDING', key, group, id, id, 1)[1]
  came[#came + 1] = objection(row, id, owner, deliveries)
    or restored(id, owner, delivered, deliveries) and 'restored' or 'missing'
  if walked > LARGEST_LOOK then break end
end
if marker then redis.call('SET', marker, ARGV[9] + #came, 'EX', ARGV[10]) end
return came
