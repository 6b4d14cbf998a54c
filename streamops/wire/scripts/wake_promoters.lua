-- Telling promoters of a message that is due before all others. Those who may not publish, or do not listen, lose a
-- second at most.

-- When the first message of a queue is due; nothing where there is none.
local function first_due(queue)
  local score = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2]
  return score and tonumber(score)
end

-- Says when it is due, on the channel that is named like the queue, if that is before what was first until now. What is
-- first and overdue may be a foreign member, which stays first for ever.
local function wake_promoters(queue, due, first, now)
  if not first or due < first or first <= now then redis.pcall('PUBLISH', queue, string.format('%.0f', due)) end
end
