-- Claims entries of a group by their IDs: those rows that are idle for long enough, of one consumer or of all but
-- the new owner.
-- KEYS: the stream, and perhaps the hash that keeps the rows as they were. ARGV: the group, its position in the plan,
-- the new owner, the least idle time in milliseconds, seconds that the rows are kept, 1 and whose rows alone, or 0 and
-- nothing, for how many milliseconds they are to look idle or nothing, then the IDs.
-- Returns {how many, the rows as they were where nothing keeps them, IDs left alone, and for each why: "gone", "owner", "idle" or
-- "missing"}.
-- @include guard
-- @include claim_rows
local key, group, to, min_idle = KEYS[1], ARGV[1], ARGV[3], tonumber(ARGV[4])
local source = ARGV[6] == '1' and ARGV[7]
local idle = ARGV[8] ~= '' and ARGV[8] or nil
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local function objection(row)
  if not row then return 'gone' end
  if row[2] == to or source and row[2] ~= source then return 'owner' end
  if row[3] < min_idle then return 'idle' end
end

local rows = {}
for at = 9, #ARGV do
  local row = redis.call('XPENDING', key, group, ARGV[at], ARGV[at], 1)[1]
  local reason = objection(row)
  if reason then
    leave(ARGV[at], reason)
  else
    rows[#rows + 1] = row
  end
end
take_rows(rows, #rows, function() return true end)
local told = claim_taken(key, group, to, ARGV[4], false, KEYS[2], ARGV[5], idle)
return {count, told, left, why}
