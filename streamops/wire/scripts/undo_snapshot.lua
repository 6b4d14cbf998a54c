-- Rows as they were before something was done to them, kept beside the stream until the audit log tells of them:
-- by the script that does it, so that whoever is killed right after it leaves them behind.

-- IDs, how many, and runs of rows that are alike: place of their owner in the list of owners, idle milliseconds,
-- deliveries, and how many rows come before them. Rows are often alike, and numbers in tables are what costs.
local LARGEST = 9007199254740991 -- of Lua's whole numbers
local ids, count, runs = {}, 0, {}
local owners, place_of = {}, {}

local function begin_run(owner, idle, deliveries)
  local place = place_of[owner]
  if not place then
    place = #owners
    owners[place + 1], place_of[owner] = owner, place
  end
  local at = #runs
  runs[at + 1], runs[at + 2], runs[at + 3], runs[at + 4] = place, idle, math.min(deliveries, LARGEST), count
end

-- Takes rows, at most so many, whose owner and idle time fit; how many were looked at.
local function take_rows(rows, most, fits)
  local holder, idle, deliveries, fitting
  for at = 1, #rows do
    if count == most then return at - 1 end
    local row = rows[at]
    if row[2] ~= holder or row[3] ~= idle or row[4] ~= deliveries then
      holder, idle, deliveries = row[2], row[3], row[4]
      fitting = fits(holder, idle)
      if fitting then begin_run(holder, idle, deliveries) end
    end
    if fitting then
      count = count + 1
      ids[count] = row[1]
    end
  end
  return #rows
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function hex(text)
  return (string.gsub(text, '.', function(one) return string.format('%02x', string.byte(one)) end))
end

-- MessagePack: [the clock in milliseconds, owners as hexadecimal digits, IDs, runs]; nothing where there are no rows.
local function packed_rows(now)
  if count == 0 then return '' end
  local names = {}
  for at, name in ipairs(owners) do names[at] = hex(name) end
  return cmsgpack.pack({now, names, ids, runs})
end

local now, field

-- Writes the rows taken to the hash `kept`, for so many seconds from now, or forgets them where there are none; without
-- a hash it returns them. Called before anything else is written: it takes memory, which may be refused.
local function keep_taken(kept, seconds)
  if not field then
    if count == 0 then return '' end
    now = clock()
    field = string.format('%.0f', now) .. '/' .. ids[1]
  end
  local rows = packed_rows(now)
  if not kept then return rows end
  if rows == '' then
    redis.call('HDEL', kept, field)
  else
    redis.call('HSET', kept, field, rows)
    redis.call('EXPIRE', kept, seconds)
  end
  return ''
end

-- Rows that are left alone, and for each why.
local left, why = {}, {}
local function leave(id, reason) left[#left + 1], why[#why + 1] = id, reason end

-- Drops the rows taken to which nothing was done after all, and keeps the others instead.
local function keep_only(done, kept, seconds)
  local all, old, total = ids, runs, count
  ids, runs, count = {}, {}, 0
  for at = 1, #old, 4 do
    local before = count
    for row = old[at + 3] + 1, old[at + 7] or total do
      if done[all[row]] then
        if count == before then begin_run(owners[old[at] + 1], old[at + 1], old[at + 2]) end
        count = count + 1
        ids[count] = all[row]
      end
    end
  end
  return keep_taken(kept, seconds)
end
