-- What looking at a group's idle rows and tending them share: what becomes of each.

local ATTEMPT = '_so_attempt'
local MOST_DIGITS = 9

-- How often an entry was delivered before it was added anew. Its field counts the delivery to come as well.
local function delivered_before(parts)
  for at = #parts - 1, 1, -2 do
    local value = parts[at + 1]
    if parts[at] == ATTEMPT and #value <= MOST_DIGITS and string.find(value, '^%d+$') then
      return math.max(0, tonumber(value) - 1)
    end
  end
  return 0
end

local function bytes_of(parts)
  local bytes = 0
  for _, part in ipairs(parts) do bytes = bytes + #part end
  return bytes
end

-- What becomes of a row that is idle for long enough: 'redeliver', 'bury', 'gone' (its entry is) or 'wait' (it was
-- given to whom it should be already); then how often its entry was delivered in all, and the entry's fields.
local function fate(key, row, most, to)
  local entry = redis.call('XRANGE', key, row[1], row[1])[1]
  if not entry then return 'gone', row[4], {} end
  local parts = entry[2]
  local deliveries = delivered_before(parts) + row[4]
  if deliveries >= most then return 'bury', deliveries, parts end
  if to ~= '' and row[2] == to then return 'wait', deliveries, parts end
  return 'redeliver', deliveries, parts
end
