-- Creates a group anew that somebody destroyed, and the stream where it is gone too.
-- KEYS[1]: the stream. ARGV: the group, the last ID that the caller saw of it.
-- Returns where it begins; nothing where the group is there.
-- @include guard
local key, group, at = KEYS[1], ARGV[1], ARGV[2]
local found, err = group_of(key, group)
if err and not string.find(err.err, 'no such key', 1, true) then return err end
if found then return false end
if err then
  at = '0-0'
else
  -- A stream that never came as far as that is another one.
  local info = redis.call('XINFO', 'STREAM', key)
  for number = 1, #info, 2 do
    if info[number] == 'last-generated-id' and less(info[number + 1], at) then at = '0-0' end
  end
end
redis.call('XGROUP', 'CREATE', key, group, at, 'MKSTREAM')
return at
