-- Counts entries after ARGV[1] up to ARGV[2] without shipping them: at most ARGV[3], and no further once it has
-- walked over ARGV[4] bytes of payload, because Redis copies whole entries into a script.
-- KEYS[1]: the stream. ARGV[5]: how many entries to take at first, before their size is known. ARGV[6]: "back" to
-- count from before ARGV[1] down to ARGV[2] instead.
-- ARGV[7], ARGV[8], only where the entries wait for a group, and ARGV[2] was the stream's end when it was read: how many
-- entries it had then, and the group's name, or nothing where the server has too many groups to look for it.
-- Returns {how many, ID of the last one counted, bytes walked over, 1 if the end was reached}; and with ARGV[7], once the
-- end was reached: how many entries of then are gone by now, or false where that cannot be told; and where some are gone,
-- or it cannot be told, how many wait for the group now, or false; and what these two counts cost, each of which keeps to
-- the limits of the first: how many entries, and bytes.
local LARGEST_STEP = 64
local key, command = KEYS[1], ARGV[6] == 'back' and 'XREVRANGE' or 'XRANGE'
local limit, budget, first_step = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
-- Beyond it there is nothing, and to ask for what is there is an error.
local utmost = ARGV[6] == 'back' and '0-0' or '18446744073709551615-18446744073709551615'

-- Of all counts together.
local all, all_bytes = 0, 0

local function count(after, last)
  local counted, bytes, step, complete = 0, 0, first_step, 0
  while counted < limit and bytes < budget and complete == 0 do
    if after == utmost then
      complete = 1
      break
    end
    local asked = math.min(step, limit - counted)
    local entries = redis.call(command, key, '(' .. after, last, 'COUNT', asked)
    for at = 1, #entries do
      local parts = entries[at][2]
      for number = 1, #parts do bytes = bytes + #parts[number] end
    end
    counted = counted + #entries
    if #entries > 0 then after = entries[#entries][1] end
    if #entries < asked or after == last then complete = 1 end
    step = math.max(1, math.min(LARGEST_STEP, math.floor((budget - bytes) * counted / (bytes + 1))))
  end
  all, all_bytes = all + counted, all_bytes + bytes
  return {counted, after, bytes, complete}
end

-- Entries come only after the end, so that who is missing among the others was removed.
local function gone()
  if ARGV[2] == utmost then return false end
  local newer = count(ARGV[2], '+')
  local left = newer[4] == 1 and ARGV[7] - (redis.call('XLEN', key) - newer[1])
  return left and left >= 0 and left
end

local function position()
  local groups = redis.pcall('XINFO', 'GROUPS', key)
  for at = 1, groups.err and 0 or #groups do
    local flat, named = groups[at], {}
    for number = 1, #flat, 2 do named[flat[number]] = flat[number + 1] end
    if named['name'] == ARGV[8] then return named['last-delivered-id'] end
  end
end

local found = count(ARGV[1], ARGV[2])
if ARGV[7] and found[4] == 1 then
  found[5], found[6] = gone(), false
  local from = found[5] ~= 0 and ARGV[8] ~= '' and position()
  local waiting = from and count(from, '+')
  if waiting and waiting[4] == 1 then found[6] = waiting[1] end
  found[7], found[8] = all - found[1], all_bytes - found[3]
end
return found
