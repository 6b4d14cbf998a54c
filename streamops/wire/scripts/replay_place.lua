-- Hands on the entries of letters whose queue is in another slot; their markers make sure that each is once.
-- KEYS[1]: the stream whose groups matter, KEYS[2]: the key to write to, KEYS[3]: the origins noted down; then one
-- marker a letter.
-- ARGV[1], as MessagePack:
--   mode      republish, redeliver or retry
--   group     the group that gets them; empty where all do
--   groups    {{1, {group, ...}, ...}}: what the plan told of, see hand_on
--   kept      milliseconds that markers are kept
--   letters   one a marker: {name, value, ...}; or for redeliver {ID in the stream}
-- Returns one {what became of it, why} a letter: 1 handed on, 0 handed on before, 2 left, 3 failed.
-- @include hand_on
-- @include origins
local how = cmsgpack.unpack(ARGV[1])
local group = how.group

local positions, err = told_positions(how.groups)
if err then return err end
-- Nothing is rolled back: what must follow the entry is asked for before. These options exclude each other; memory
-- and permissions are looked at first.
local allowed = redis.pcall('SET', KEYS[4], '', 'NX', 'XX')
if is_everybodys(allowed.err) then return allowed end
local problem = how.mode == 'republish' and refused_notes(KEYS[3])
if problem then return problem end

local ways = {}
function ways.republish(parts)
  local added, why = add(KEYS[2], parts, #parts)
  local origin = added and said_origin(parts)
  if origin then note_origin(KEYS[3], added, origin) end
  return added, why
end
function ways.retry(parts) return add_for_group(KEYS[2], group, parts, #parts) end
function ways.redeliver(parts) return redeliver(KEYS[1], group, positions['1 ' .. group], parts[1]) end

local became = {}
for at, parts in ipairs(how.letters) do
  local marker = KEYS[3 + at]
  if redis.call('EXISTS', marker) == 1 then
    became[at] = {0, ''}
  else
    local handed, why = ways[how.mode](parts)
    if handed == nil and is_everybodys(why) and at == 1 then return {err = why} end
    if handed then redis.call('SET', marker, '1', 'PX', how.kept) end
    became[at] = handed and {1, ''} or {handed == false and 2 or 3, why}
  end
end
if how.mode == 'republish' then forget_origins(KEYS[3]) end
return became
