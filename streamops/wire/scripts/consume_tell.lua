-- Tells the dead letters of entries that are still pending under a consumer's name, which the caller
-- writes itself, and renews their leases meanwhile.
-- Returns for each a word, and the letter's fields where that is "done" or "gone"; of fewer where they are large.
-- @include dead_letter_arguments
require_removal(key, group, marks, retries)

local told = {}
for at = FIRST, #ARGV, EACH do
  local letter, why = letter_at(at)
  -- Since Redis 7.0 claiming an entry that is gone takes it off the list of pending ones.
  if letter and letter.became == 'done' then redis.call('XCLAIM', key, group, consumer, 0, letter.id, 'JUSTID') end
  told[#told + 1] = letter and {letter.became, letter.parts} or {why}
  if bytes >= MOST_BYTES then break end
end
return told
