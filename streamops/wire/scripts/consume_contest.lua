-- Decides whose business keys are that other entries own: an owner that was never handled, because it was deleted while
-- it was pending, has none any more.
-- KEYS: the stream, its retry stream, the unhandled ones, then of each entry its guard, and where its owner was seen
-- last. ARGV: the group, milliseconds that keys are remembered or 0 for ever, then of each entry its origin ID and the owner of its key.
-- Returns a word for each: "mine", "duplicate", or "later" where that will be known later.
-- @include dead_letter_fields
local stream, retries, unhandled, group, ttl = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]

-- Whether an entry is pending and not in its stream: whoever has it may handle it yet.
local function is_doubtful(place)
  local key, id = stream, place
  if string.sub(place, 1, 6) == 'retry:' then key, id = retries, string.sub(place, 7) end
  if not is_id(id) then return false end
  local rows = redis.pcall('XPENDING', key, group, id, id, 1)
  return not rows.err and rows[1] and not redis.call('XRANGE', key, id, id)[1]
end

local words = {}
for at = 3, #ARGV, 2 do
  local guard, mine, owner = KEYS[at + 1], ARGV[at], ARGV[at + 1]
  local place = redis.call('GET', KEYS[at + 2]) or owner
  local word = 'duplicate'
  if redis.call('GET', guard) ~= owner then
    word = 'later'
  elseif redis.call('ZSCORE', unhandled, place) then
    if ttl == '0' then redis.call('SET', guard, mine) else redis.call('SET', guard, mine, 'PX', ttl) end
    word = 'mine'
  elseif is_doubtful(place) then
    word = 'later'
  end
  words[#words + 1] = word
end
return words
