-- Whether an entry is pending under a consumer's name, and idle for so many milliseconds where that matters. An error
-- where there is no such group.
local function is_own(key, group, consumer, id, min_idle)
  local row = redis.call('XPENDING', key, group, id, id, 1, consumer)[1]
  return row ~= nil and row[3] >= (min_idle or 0)
end

-- Whether fields are those that the caller was given with an ID: where a primary was replaced, the new one may have given
-- that ID to another entry. An empty digest fits all, and so does an entry that was deleted.
local function is_same(parts, digest)
  if digest == '' or not parts then return true end
  local sized = {}
  for at, part in ipairs(parts) do sized[at] = #part .. ':' .. part end
  return redis.sha1hex(table.concat(sized)) == digest
end

-- The same of the entry that has an ID.
local function is_same_entry(key, id, digest)
  if digest == '' then return true end
  local entry = redis.call('XRANGE', key, id, id)[1]
  return is_same(entry and entry[2], digest)
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
