-- Creates a group where there is none of that name.
-- KEYS[1]: the stream. ARGV: the group; where it begins, an ID or "$"; the counter ENTRIESREAD that goes with it,
-- or empty; "1" where the stream is to be created too.
-- Returns {its position, its counter or false}.
-- @include guard
local key, group, at, counter, make = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if make == '1' and redis.call('EXISTS', key) == 1 then return drift('the stream exists now') end

-- "$" is where the stream ends now, not where it did when the plan was made; its counter with it.
if at == '$' and make == '1' then
  at = '0-0'
elseif at == '$' then
  local info = redis.pcall('XINFO', 'STREAM', key)
  if info.err then return unreadable(info) end
  for number = 1, #info, 2 do
    if info[number] == 'last-generated-id' then at = info[number + 1] end
    if info[number] == 'entries-added' then counter = string.format('%.0f', info[number + 1]) end
  end
end
local words = {'XGROUP', 'CREATE', key, group, at}
if make == '1' then words[#words + 1] = 'MKSTREAM' end
if counter ~= '' then
  words[#words + 1] = 'ENTRIESREAD'
  words[#words + 1] = counter
end
-- The server itself refuses a second group of a name: to look for one would take it as long as there are groups.
local made = redis.pcall(unpack(words))
if not made.err then return {at, tonumber(counter) or false} end
if make ~= '1' and redis.call('EXISTS', key) == 0 then return drift('the stream is gone') end
if not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
local found, err = group_of(key, group)
if err then return err end
return drift('the group exists now, at ' .. found['last-delivered-id'])
