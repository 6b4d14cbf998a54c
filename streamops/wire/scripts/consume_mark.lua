-- Marks starts of entries that are still pending under a consumer's name. A call that is repeated marks nothing twice.
-- KEYS: the stream, the marks. ARGV: the group, the consumer, milliseconds that marks are kept, what their fields
-- begin with, then of each entry its ID, how many marks the caller knows of, and the digest of its fields or ''.
-- Returns for each how many marks it has now; -1 where it is not ours, -2 where its ID is another entry's.
-- @include consume_rows
local key, marks, group, consumer = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local answers = {}
for at = 5, #ARGV, 3 do
  local id, known = ARGV[at], tonumber(ARGV[at + 1])
  local answer = -1
  if is_own(key, group, consumer, id) then answer = is_same_entry(key, id, ARGV[at + 2]) and 0 or -2 end
  if answer == 0 then
    local field = ARGV[4] .. id
    answer = tonumber(redis.call('HGET', marks, field) or 0) or 0
    if answer <= known then
      answer = known + 1
      redis.call('HSET', marks, field, answer)
    end
  end
  answers[#answers + 1] = answer
end
if redis.call('EXISTS', marks) == 1 then redis.call('PEXPIRE', marks, ARGV[3]) end
return answers
