-- Claims entries of a group by their IDs: those rows that are idle for long enough, of one consumer or of all but
-- the new owner.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, the new owner, the least idle time in
-- milliseconds, 1 and whose rows alone, or 0 and nothing, then the IDs.
-- Returns {what claim_taken says, IDs left alone, and for each why: "gone", "owner" or "idle"}.
-- @include guard
-- @include claim_rows
local key, group, to, min_idle = KEYS[1], ARGV[1], ARGV[3], tonumber(ARGV[4])
local source = ARGV[5] == '1' and ARGV[6]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local function objection(row)
  if not row then return 'gone' end
  if row[2] == to or source and row[2] ~= source then return 'owner' end
  if row[3] < min_idle then return 'idle' end
end

local alone, why = {}, {}
for at = 7, #ARGV do
  local row = redis.call('XPENDING', key, group, ARGV[at], ARGV[at], 1)[1]
  local reason = objection(row)
  if reason then
    alone[#alone + 1], why[#why + 1] = ARGV[at], reason
  else
    take(row)
  end
end
return {claim_taken(key, group, to, ARGV[4]), alone, why}
