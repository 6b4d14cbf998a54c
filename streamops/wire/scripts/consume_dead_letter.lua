-- Gives entries up that are still pending under a consumer's name: each becomes a dead letter.
-- KEYS[3]: the dead-letter queue; guards and payloads follow.
-- Returns a word for each: "done", "not_ours", "superseded", "gone" or "too_wide"; of fewer where they are large.
-- @include dead_letter_arguments
-- No entry can have this ID; but memory, permission and type are looked at before that.
local asked = redis.pcall('XADD', KEYS[3], '0-0', 'f', 'v')
if not string.find(asked.err, '0-0', 1, true) then return asked end
require_removal(key, group, marks, retries)

local became = {}
for at = FIRST, #ARGV, EACH do
  local letter, why = letter_at(at, MOST_PARTS - ABOUT_PARTS)
  if letter then
    -- Whoever has a guard freed and is not buried after all sets it again.
    see_to_keys(letter, at)
    local added = redis.pcall('XADD', KEYS[3], '*', unpack(letter.parts))
    if type(added) == 'table' then return #became > 0 and became or added end
    remove(key, group, marks, retries, prefix, letter.id)
  end
  became[#became + 1] = letter and letter.became or why
  if bytes >= MOST_BYTES then break end
end
return became
