-- What both ways of claiming share: claiming rows that the script itself has just read and found to match.
-- A thousand rows go through here at a time: they are kept by columns, which are packed faster than rows.

local ids, places, idles, deliveries = {}, {}, {}, {}
local owners, place_of, count = {}, {}, 0

-- Selects a row; of its owner it keeps the place in the list of owners.
local function take(row)
  local owner = row[2]
  local place = place_of[owner]
  if not place then
    place = #owners
    owners[place + 1], place_of[owner] = owner, place
  end
  count = count + 1
  ids[count], places[count], idles[count], deliveries[count] = row[1], place, row[3], row[4]
end

-- Keeps only those rows that were claimed; IDs of the others, by whether their rows are gone or were left.
local function drop_unclaimed(key, group, claimed)
  local mine, kept, gone, left = {}, {{}, {}, {}, {}}, {}, {}
  for _, id in ipairs(claimed) do mine[id] = true end
  for at, id in ipairs(ids) do
    if mine[id] then
      local to = #kept[1] + 1
      kept[1][to], kept[2][to], kept[3][to], kept[4][to] = id, places[at], idles[at], deliveries[at]
    elseif redis.call('XPENDING', key, group, id, id, 1)[1] then
      left[#left + 1] = id
    else
      gone[#gone + 1] = id
    end
  end
  ids, places, idles, deliveries = unpack(kept)
  return gone, left
end

-- Claims the rows taken, without counting a delivery. Unbroken ones, with no other row of the group between
-- them, are claimed as a run, which costs the server less than naming them.
-- Returns {how many, the clock in milliseconds, former owners, columns as MessagePack [IDs, places of their owners,
-- idle milliseconds, deliveries], IDs whose rows the server removed because their entries are gone, IDs that it
-- would not claim}.
local function claim_taken(key, group, to, min_idle, unbroken)
  local gone, left, claimed = {}, {}, nil
  if count > 0 then
    if unbroken then
      claimed = redis.call('XAUTOCLAIM', key, group, to, min_idle, ids[1], 'COUNT', count, 'JUSTID')[2]
    else
      ids[count + 1] = 'JUSTID'
      claimed = redis.call('XCLAIM', key, group, to, min_idle, unpack(ids))
      ids[count + 1] = nil
    end
    if #claimed < count then gone, left = drop_unclaimed(key, group, claimed) end
  end
  local clock = redis.call('TIME')
  local packed = cmsgpack.pack({ids, places, idles, deliveries})
  return {#ids, clock[1] * 1000 + math.floor(clock[2] / 1000), owners, packed, gone, left}
end
