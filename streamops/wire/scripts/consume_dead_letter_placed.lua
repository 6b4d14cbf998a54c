-- Takes entries off the list of pending ones whose dead letters the caller has written, where they are still pending
-- under a consumer's name.
-- KEYS: as told, then guards and payloads.
-- Returns a word for each: "done", "not_ours", "superseded" or "gone"; of fewer where they are large.
-- @include dead_letter_arguments
require_removal(key, group, marks, retries)

local became = {}
for at = FIRST, #ARGV, EACH do
  local letter, why = letter_at(at)
  if letter then
    see_to_keys(letter, at)
    remove(key, group, marks, retries, prefix, letter.id)
  end
  became[#became + 1] = letter and letter.became or why
  if bytes >= MOST_BYTES then break end
end
return became
