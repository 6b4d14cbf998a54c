-- Claims a page of a group's pending entries for a consumer: those rows that are idle for long enough, of one
-- consumer or of all but the new owner. By a cursor, because XPENDING with IDLE goes over the whole list.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, the new owner, the least idle time in
-- milliseconds, where to begin and to end, how many rows to claim at most, how many to look at, and whose rows
-- alone, where that matters.
-- Returns {last ID looked at, 1 if the end was reached, what claim_taken says}.
-- @include guard
-- @include claim_rows
local key, group, to = KEYS[1], ARGV[1], ARGV[3]
local min_idle, most, look = tonumber(ARGV[4]), tonumber(ARGV[7]), tonumber(ARGV[8])
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local page = redis.call('XPENDING', key, group, ARGV[5], ARGV[6], unpack(ARGV, 8))
local last, looked, ended = '', 0, #page < look
for at = 1, #page do
  if count == most then
    ended = false
    break
  end
  local row = page[at]
  last, looked = row[1], at
  if row[3] >= min_idle and row[2] ~= to then take(row) end
end
-- A page of one consumer says nothing of the rows between its own.
return {last, ended and 1 or 0, claim_taken(key, group, to, ARGV[4], count == looked and not ARGV[9])}
