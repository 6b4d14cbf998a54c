-- Counts letters of a dead-letter queue by what they have in common, without shipping them.
-- KEYS[1]: the queue. ARGV: where to begin, exclusive; the last ID; how many letters and bytes at most; how many
-- letters at first.
-- Returns {how many, ID of the last one, bytes, 1 at the end, how many refer to a payload,
-- {stream, group, reason, how many, stream, ...}}.
-- @include dead_letter_fields
local LARGEST_STEP = 64
local after, limit, budget, step = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local counted, bytes, payloads, kinds, order = 0, 0, 0, {}, {}

local function tally(parts)
  bytes = bytes + read_letter(parts)
  if letter.payload then payloads = payloads + 1 end
  local reason = letter.reason
  if is_foreign() then
    for at = 1, count, 2 do
      if OWN[at] == 'reason' then reason = OWN[at + 1] end
    end
  end
  local words = {letter.origin or '', letter.group or '', reason or ''}
  local name = table.concat(words, '\0')
  if not kinds[name] then
    kinds[name] = {words, 0}
    order[#order + 1] = kinds[name]
  end
  kinds[name][2] = kinds[name][2] + 1
end

local function told(ended)
  local flat = {}
  for _, kind in ipairs(order) do
    for at = 1, 3 do flat[#flat + 1] = kind[1][at] end
    flat[#flat + 1] = kind[2]
  end
  return {counted, after, bytes, ended, payloads, flat}
end

while counted < limit and bytes < budget do
  local asked = math.min(step, limit - counted)
  local entries = redis.call('XRANGE', KEYS[1], '(' .. after, ARGV[2], 'COUNT', asked)
  for at = 1, #entries do tally(entries[at][2]) end
  counted = counted + #entries
  if #entries > 0 then after = entries[#entries][1] end
  if #entries < asked or after == ARGV[2] then return told(1) end
  step = math.max(1, math.min(LARGEST_STEP, math.floor((budget - bytes) * counted / (bytes + 1))))
end
return told(0)
