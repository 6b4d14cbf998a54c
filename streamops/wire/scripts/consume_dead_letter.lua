-- Gives entries up that are still pending under a consumer's name: each becomes a dead letter.
-- KEYS[3]: the dead-letter queue; guards and payloads follow.
-- Returns a word for each: "done", "not_ours", "superseded", "gone" or "too_wide"; of fewer where they are large.
-- @include dead_letter_arguments
-- @include dead_letter_write
local refused = letter_refused(KEYS[3])
if refused then return refused end
require_removal(key, group, marks, retries)

local became = {}
for at = FIRST, #ARGV, EACH do
  local letter, why = letter_at(at, MOST_PARTS - ABOUT_PARTS)
  if letter then
    -- Whoever has a guard freed and is not buried after all sets it again.
    see_to_keys(letter, at)
    local added = write_letter(KEYS[3], letter.parts)
    if type(added) == 'table' then return #became > 0 and became or added end
    remove(key, group, marks, retries, prefix, letter.id)
  end
  became[#became + 1] = letter and letter.became or why
  if bytes >= MOST_BYTES then break end
end
return became
