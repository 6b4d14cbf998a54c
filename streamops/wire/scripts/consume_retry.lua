-- Moves entries that are still pending under a consumer's name into the delayed queue, from where they come back for
-- their group alone.
-- KEYS: the stream or its retry stream, the marks, the queue, its bodies, then payloads. ARGV: the group, the
-- consumer, 1 in a retry stream and else 0, what the fields of marks begin with, what the IDs of its delayed messages
-- begin with, the retry stream, then of each entry its ID, the delay in milliseconds, the attempt, the ID that
-- it was born with or '', the number of its payload's key or 0, and the digest of its fields or ''.
-- Returns a word for each: "done", "not_ours", "superseded", "gone" or "too_wide"; of fewer where they are large.
-- @include consume_settling
-- @include wake_promoters
local NOBODY = 'streamops:no-such-message'
local key, marks, queue, bodies, group, consumer = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
local retries, prefix, name, destination = ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6]

-- Memory is looked at until a script has called something that writes.
redis.call('ZADD', queue, 'XX', 0, NOBODY)
redis.call('HDEL', bodies, NOBODY)
require_removal(key, group, marks, retries)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first, least, bytes = first_due(queue), math.huge, 0

-- An ID for its message. Whoever was set back to read an entry again may retry it twice.
local function free_id(wanted)
  local id, number = wanted, 1
  while redis.call('ZSCORE', queue, id) or redis.call('HEXISTS', bodies, id) == 1 do
    number = number + 1
    id = wanted .. ':' .. number
  end
  return id
end

local function retry(id, delay, attempt, origin, payload, digest)
  local message = name .. prefix .. id
  if not is_own(key, group, consumer, id) then
    -- It was moved before, and waits.
    return redis.call('ZSCORE', queue, message) and 'done' or 'not_ours'
  end
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not entry then return 'gone' end
  local parts = entry[2]
  if not is_same(parts, digest) then return 'superseded' end
  bytes = bytes + read_letter(parts)
  if #parts > MOST_PARTS - 4 then return 'too_wide' end
  if payload > 0 then redis.call('PERSIST', KEYS[payload]) end
  -- Nothing else than what is said about entries: then that is the entry.
  local own = count > 0 and {unpack(OWN, 1, count)} or parts
  local body = cmsgpack.pack({1, destination, group, attempt, origin ~= '' and origin or id, own})
  local due = now + delay
  message = free_id(message)
  redis.call('HSET', bodies, message, body)
  redis.call('ZADD', queue, string.format('%.0f', due), message)
  remove(key, group, marks, retries, prefix, id)
  least = math.min(least, due)
  return 'done'
end

local became = {}
for at = 7, #ARGV, 6 do
  local delay, attempt, payload = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 4])
  became[#became + 1] = retry(ARGV[at], delay, attempt, ARGV[at + 3], payload, ARGV[at + 5])
  if bytes >= MOST_BYTES then break end
end
if least < math.huge then wake_promoters(queue, least, first, now) end
return became
