-- Claims a page of a group's pending entries for a consumer: those rows that are idle for long enough, of one
-- consumer or of all but the new owner. By a cursor, because XPENDING with IDLE goes over the whole list.
-- KEYS: the stream, and perhaps the hash that keeps the rows as they were. ARGV: the group, its position in the plan,
-- the new owner, the least idle time in milliseconds, where to begin and to end, how many rows to claim at most,
-- seconds that they are kept, how many to look at, and whose rows alone, where that matters.
-- Returns {last ID looked at, 1 if the end was reached, how many, the rows as they were where nothing keeps them, IDs left alone,
-- and for each why: "idle" or "missing"}.
-- @include guard
-- @include claim_rows
local key, group, to = KEYS[1], ARGV[1], ARGV[3]
local min_idle, most, look = tonumber(ARGV[4]), tonumber(ARGV[7]), tonumber(ARGV[9])
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end

local page = redis.call('XPENDING', key, group, ARGV[5], ARGV[6], unpack(ARGV, 9))
local looked = take_rows(page, most, function(owner, idle) return idle >= min_idle and owner ~= to end)
local last = looked > 0 and page[looked][1] or ''
local ended = looked == #page and #page < look
-- A page of one consumer says nothing of the rows between its own.
local unbroken = count == looked and not ARGV[10]
local told = claim_taken(key, group, to, ARGV[4], unbroken, KEYS[2], ARGV[8])
return {last, ended and 1 or 0, count, told, left, why}
