-- @include consume_settling
-- @include origins
-- Dead letters of entries that are pending under a consumer's name. All scripts that include this have the same ARGV:
-- the group, the consumer, 1 in a retry stream and else 0, what the fields of marks begin with, the stream's name, for how
-- many milliseconds entries have to be idle, then
-- of each entry its ID, reason, error, deliveries, attempt, the number of its guard's key or 0, the number of its
-- payload's key or 0, the ID that it was born with or '', and the digest
-- of its fields or ''. KEYS begin with the stream or its retry stream, and the
-- marks.
local FIRST, EACH, ABOUT_PARTS = 7, 9, 18
local key, marks, group, consumer = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local retries, prefix, stream, min_idle = ARGV[3] == '1', ARGV[4], ARGV[5], tonumber(ARGV[6])
local bytes = 0

-- The clock as RFC 3339: days since the epoch become a date by counting from the March before a leap year.
local function rfc3339(time)
  local seconds, floor = tonumber(time[1]), math.floor
  local days = floor(seconds / 86400) + 719468
  local era = floor(days / 146097)
  local day = days - era * 146097
  local year = floor((day - floor(day / 1460) + floor(day / 36524) - floor(day / 146096)) / 365)
  day = day - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * day + 2) / 153)
  day = day - floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  year = year + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, floor(seconds / 3600) % 24,
    floor(seconds / 60) % 60, seconds % 60, floor(time[2] / 1000))
end
local now = rfc3339(redis.call('TIME'))

-- Unpack takes only so many.
local function copied(values, number)
  local copy = {}
  for at = 1, number do copy[at] = values[at] end
  return copy
end

-- The letter of the entry that ARGV tells of from a place on: {id, what became of it, origin, parts}. Or nothing, and
-- why there is none.
local function letter_at(at, most_parts)
  local id = ARGV[at]
  if not is_own(key, group, consumer, id, min_idle) then return nil, 'not_ours' end
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not is_same(entry and entry[2], ARGV[at + 8]) then return nil, 'superseded' end
  local parts = entry and entry[2] or {}
  bytes = bytes + read_letter(parts)
  if #parts > (most_parts or #parts) then return nil, 'too_wide' end
  local origin = ARGV[at + 7] ~= '' and ARGV[at + 7] or id
  -- Of an entry of the stream everything, of a retry what was its own before that.
  local said = retries and copied(OWN, count) or without_origin(parts)
  if not retries and origin ~= id then said[#said + 1], said[#said + 2] = ORIGIN_ID, origin end
  for _, part in ipairs({
    '_so_origin', stream, ORIGIN_ID, retries and origin or id, '_so_group', group, '_so_consumer', consumer,
    '_so_reason', entry and ARGV[at + 1] or 'payload-missing', '_so_error', ARGV[at + 2],
    '_so_deliveries', ARGV[at + 3], '_so_attempt', ARGV[at + 4], '_so_failed_at', now,
  }) do said[#said + 1] = part end
  return {id = id, became = entry and 'done' or 'gone', origin = origin, parts = said}
end

-- Lets the payload stay, and frees the guard of the business key as long as it is this entry's.
local function see_to_keys(letter, at)
  local guard, payload = KEYS[tonumber(ARGV[at + 5])], KEYS[tonumber(ARGV[at + 6])]
  if payload then redis.call('PERSIST', payload) end
  if guard and redis.call('GET', guard) == letter.origin then redis.call('DEL', guard) end
end
