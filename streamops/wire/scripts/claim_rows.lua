-- What both ways of claiming share: claiming rows that the script itself has just read and found to match.
-- @include undo_snapshot

-- Claims the rows taken, without counting a delivery. Unbroken ones, with no other row of the group between
-- them, are claimed as a run, which costs the server less than naming them.
-- Leaves alone those that the server would not claim ("idle"), and those whose rows it removed because their entries are gone
-- ("missing"). They look idle for so many milliseconds afterwards, where that is said.
-- Returns the rows as they were where nothing keeps them.
local function claim_taken(key, group, to, min_idle, unbroken, kept, seconds, idle)
  local told, claimed, mine = keep_taken(kept, seconds), ids, {}
  if count > 0 and unbroken then
    claimed = redis.call('XAUTOCLAIM', key, group, to, min_idle, ids[1], 'COUNT', count, 'JUSTID')[2]
  elseif count > 0 then
    ids[count + 1], ids[count + 2], ids[count + 3] = 'JUSTID', idle and 'IDLE', idle
    claimed = redis.call('XCLAIM', key, group, to, min_idle, unpack(ids))
    ids[count + 1], ids[count + 2], ids[count + 3] = nil, nil, nil
  end
  if #claimed == count then return told end

  for _, id in ipairs(claimed) do mine[id] = true end
  for _, id in ipairs(ids) do
    if not mine[id] then
      local there = redis.call('XPENDING', key, group, id, id, 1)[1]
      leave(id, there and 'idle' or 'missing')
    end
  end
  return keep_only(mine, kept, seconds)
end
