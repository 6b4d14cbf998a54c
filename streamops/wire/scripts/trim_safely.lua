-- Removes the oldest entries of a stream, none that a group has yet to read or to acknowledge: one slice.
-- KEYS[1]: the stream.
-- ARGV: "maxlen" or "minid", its number or ID, at most so many entries, "approximate" or "exact", and what the exact
-- form of XTRIM is told of references: "ACKED" or nothing.
-- Returns {entries removed, entries left, the ID below which they were free to go, the group that needs that one}.
-- @include guard
-- @include trim_slice
local key, bound, asked, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local rows, columns = groups_of(key)
if not rows then return unreadable(columns) end
local at_name, at_position, at_pending = columns['name'], columns['last-delivered-id'], columns['pending']

-- A group needs what comes after its position and what is pending; the entry at its position is kept as well.
local cut, holder
for _, row in ipairs(rows) do
  local needed = row[at_position]
  if row[at_pending] > 0 then
    local oldest = redis.call('XPENDING', key, row[at_name], '-', '+', 1)[1][1]
    if less(oldest, needed) then needed = oldest end
  end
  if not cut or less(needed, cut) then cut, holder = needed, row[at_name] end
end
if not cut then return drift('it has no group any more, so nobody can say what is still needed') end

if bound == 'minid' and less(asked, cut) then cut, holder = asked, '' end
if bound == 'maxlen' then most = math.min(most, redis.call('XLEN', key) - tonumber(asked)) end
local removed = trim_slice(key, cut, most, ARGV[4], ARGV[5])
return {removed, redis.call('XLEN', key), cut, holder}
