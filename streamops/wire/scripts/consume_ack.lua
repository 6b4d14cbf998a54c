-- Acknowledges entries that are still pending under a consumer's name, forgets their marks, deletes them where they
-- are in a retry stream, and deletes their payloads where no other group reads the stream.
-- KEYS: the stream or its retry stream, the marks, the stream, the unhandled ones, then payloads. ARGV: the group, the
-- consumer, 1 in a retry stream and else 0, what the fields of marks begin with, then of each entry its ID, the number of
-- its payload's key or 0, and the digest of its fields or ''.
-- Returns {how many were acknowledged, IDs that were not ours}.
-- @include consume_payloads
-- @include consume_rows
local key, marks, stream, group, consumer = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local retries, prefix = ARGV[3] == '1', ARGV[4]

local asked, ids, fields, payloads, lost, seen = {}, {}, {}, {}, {}, {}
for at = 5, #ARGV, 3 do asked[#asked + 1] = ARGV[at] end
local own = own_ones(key, group, consumer, asked)
for number, id in ipairs(asked) do
  local payload, digest = tonumber(ARGV[3 * number + 3]), ARGV[3 * number + 4]
  if not own[id] then
    lost[#lost + 1] = id
    -- An older acknowledgement came late: of what nobody has pending, nobody needs the marks.
    if not redis.call('XPENDING', key, group, id, id, 1)[1] then
      redis.call('HDEL', marks, prefix .. id)
      -- Somebody took it for one that nobody would handle.
      redis.call('ZREM', KEYS[4], prefix .. id)
    end
  elseif not is_same_entry(key, id, digest) then
    lost[#lost + 1] = id
  elseif not seen[id] then
    seen[id] = true
    ids[#ids + 1], fields[#fields + 1] = id, prefix .. id
    if payload > 0 then payloads[#payloads + 1] = KEYS[payload] end
  end
end
if #ids == 0 then return {0, lost} end

local acknowledged = redis.call('XACK', key, group, unpack(ids))
if retries then redis.call('XDEL', key, unpack(ids)) end
redis.call('HDEL', marks, unpack(fields))
drop_payloads(stream, group, payloads)
return {acknowledged, lost}
