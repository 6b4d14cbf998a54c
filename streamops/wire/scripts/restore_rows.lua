-- Gives pending rows back their owner, their time of delivery and their deliveries, as long as nothing has happened
-- to them since.
-- KEYS[1]: the stream. ARGV: the group, its position in the plan, what was done to the rows ("claimed": they have the
-- owner in the next argument now; "nacked": they have the owner they had), that owner, when in milliseconds, "write" or
-- "look", then runs of rows that are alike: owner, time of delivery, deliveries, how many, IDs.
-- Returns what came of each row: "restored", or "gone", "owner", "delivered", "missing"; "same" where a row that was given
-- back has what it had again: somebody else restored it.
-- @include guard
-- Milliseconds by which the clock may be read beside a row.
local SLACK = 50
local key, group, what, holder = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local since, writes = tonumber(ARGV[5]), ARGV[6] == 'write'
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- Deliveries as text; many rows in a row have as many.
local number, text
local function written(count)
  if count ~= number then number, text = count, string.format('%.0f', count) end
  return text
end

local function objection(row, owner, delivered, deliveries)
  if not row then return 'gone' end
  if row[2] ~= (what == 'claimed' and holder or owner) then return 'owner' end
  if written(row[4]) ~= deliveries or now - row[3] > since + SLACK then return 'delivered' end
  if what == 'nacked' and math.abs(now - row[3] - delivered) <= SLACK then return 'same' end
end

-- Rows as they are, by ID: one reading of many costs a fraction of many readings. What it leaves out is read by itself.
local FIRST = 7
local seen = {}
if #ARGV > FIRST + 4 then
  local rows = redis.call('XPENDING', key, group, ARGV[FIRST + 4], ARGV[#ARGV], #ARGV - FIRST - 3)
  for _, row in ipairs(rows) do seen[row[1]] = row end
end

-- IDs that get the same and are claimed together, and whose answers in `came` wait for it.
local came, ids, places = {}, {}, {}

local function claim_together(owner, delivered, deliveries)
  local count = #ids
  if count == 0 then return end
  ids[count + 1], ids[count + 2], ids[count + 3], ids[count + 4] = 'TIME', delivered, 'RETRYCOUNT', deliveries
  ids[count + 5] = 'JUSTID'
  local done = {}
  for _, id in ipairs(redis.call('XCLAIM', key, group, owner, 0, unpack(ids))) do done[id] = true end
  for number = 1, count do came[places[number]] = done[ids[number]] and 'restored' or 'missing' end
  ids, places = {}, {}
end

local function restore(id, owner, delivered, deliveries)
  local row = seen[id]
  if row then
    -- Whoever is named again may have been given back by then.
    seen[id] = nil
  else
    claim_together(owner, delivered, deliveries)
    row = redis.call('XPENDING', key, group, id, id, 1)[1]
  end
  local place = #came + 1
  local why = objection(row, owner, delivered, deliveries)
  came[place] = why or 'restored'
  if writes and not why then ids[#ids + 1], places[#places + 1] = id, place end
end

local at = FIRST
while at < #ARGV do
  local owner, delivered, deliveries, last = ARGV[at], ARGV[at + 1], ARGV[at + 2], at + 3 + ARGV[at + 3]
  for place = at + 4, last do restore(ARGV[place], owner, delivered, deliveries) end
  claim_together(owner, delivered, deliveries)
  at = last + 1
end
return came
