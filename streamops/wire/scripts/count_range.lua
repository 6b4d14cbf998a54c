-- Counts entries after ARGV[1] up to ARGV[2] without shipping them: at most ARGV[3], and no further once it has
-- walked over ARGV[4] bytes of payload, because Redis copies whole entries into a script.
-- KEYS[1]: the stream. ARGV[5]: how many entries to take at first, before their size is known. ARGV[6]: "back" to
-- count from before ARGV[1] down to ARGV[2] instead.
-- Returns {how many, ID of the last one counted, bytes walked over, 1 if the end was reached}.
local LARGEST_STEP = 64
local command = ARGV[6] == 'back' and 'XREVRANGE' or 'XRANGE'
local after, limit, budget, step = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local counted, bytes = 0, 0
-- Beyond it there is nothing, and to ask for what is there is an error.
local utmost = ARGV[6] == 'back' and '0-0' or '18446744073709551615-18446744073709551615'

while counted < limit and bytes < budget do
  if after == utmost then return {counted, after, bytes, 1} end
  local asked = math.min(step, limit - counted)
  local entries = redis.call(command, KEYS[1], '(' .. after, ARGV[2], 'COUNT', asked)
  for at = 1, #entries do
    local parts = entries[at][2]
    for number = 1, #parts do bytes = bytes + #parts[number] end
  end
  counted = counted + #entries
  if #entries > 0 then after = entries[#entries][1] end
  if #entries < asked then return {counted, after, bytes, 1} end
  step = math.max(1, math.min(LARGEST_STEP, math.floor((budget - bytes) * counted / (bytes + 1))))
end

return {counted, after, bytes, 0}
