-- Whether an entry is pending under a consumer's name. An error where there is no such group.
local function is_own(key, group, consumer, id)
  return redis.call('XPENDING', key, group, id, id, 1, consumer)[1] ~= nil
end

-- Which of many IDs are: mostly those are the next ones on its list, which is looked at in one go.
local function own_ones(key, group, consumer, ids)
  local own = {}
  if #ids == 0 then return own end
  for _, row in ipairs(redis.call('XPENDING', key, group, ids[1], '+', 2 * #ids, consumer)) do own[row[1]] = true end
  for _, id in ipairs(ids) do
    if not own[id] then own[id] = is_own(key, group, consumer, id) end
  end
  return own
end
