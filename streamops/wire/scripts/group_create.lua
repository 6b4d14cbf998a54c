-- Creates a group where there is none of that name.
-- KEYS[1]: the stream. ARGV: the group; where it begins, an ID or "$"; the counter ENTRIESREAD that goes with it,
-- or empty; "1" where the stream is to be created too.
-- Returns {its position, its counter or false}.
-- @include guard
local key, group, at, counter, make = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local groups, err = groups_of(key)
if err then
  if not string.find(err.err, 'no such key', 1, true) then return err end
  if make ~= '1' then return drift('the stream is gone') end
elseif make == '1' then
  return drift('the stream exists now')
elseif groups[group] then
  return drift('the group exists now, at ' .. groups[group]['last-delivered-id'])
end

-- "$" is where the stream ends now, not where it did when the plan was made; its counter with it.
if at == '$' and make ~= '1' then
  local info = redis.call('XINFO', 'STREAM', key)
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
redis.call(unpack(words))
local created = groups_of(key)[group]
return {created['last-delivered-id'], created['entries-read'] or false}
