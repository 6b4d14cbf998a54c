-- Removing one slice of the oldest entries, all of them below an ID that the including script vouches for.
local STEP_BYTES = 262144

-- How many of the oldest entries, at most so many, are below an ID. Redis copies whole entries into a script: no
-- further than a few hundred kilobytes.
local function oldest_below(key, cut, most)
  local found, bytes, after, step = 0, 0, '-', 1
  while found < most and bytes < STEP_BYTES do
    local asked = math.min(step, most - found)
    local entries = redis.call('XRANGE', key, after, '+', 'COUNT', asked)
    for at = 1, #entries do
      if not less(entries[at][1], cut) then return found end
      found = found + 1
      for number = 1, #entries[at][2] do bytes = bytes + #entries[at][2][number] end
    end
    if #entries < asked then return found end
    after = '(' .. entries[#entries][1]
    step = math.max(1, math.floor((STEP_BYTES - bytes) * found / (bytes + 1)))
  end
  return found
end

-- Whole nodes below the cut, at most so many entries. Where none can go and the trim is exact, the oldest entries
-- one by one: those that were seen to be below the cut, and no more. With a word about references one by one at once:
-- the approximate form of Redis 8.2.3 removes nothing with it, and leaves pending rows behind without it.
local function trim_slice(key, cut, most, how, references)
  if most < 1 then return 0 end
  if how ~= 'exact' then references = '' end
  if references == '' then
    local removed = redis.call('XTRIM', key, 'MINID', '~', cut, 'LIMIT', most)
    if removed > 0 or how ~= 'exact' then return removed end
  end
  local below = oldest_below(key, cut, most)
  if below == 0 then return 0 end
  local words = {'XTRIM', key, 'MAXLEN', '=', redis.call('XLEN', key) - below}
  if references ~= '' then words[6] = references end
  return redis.call(unpack(words))
end
