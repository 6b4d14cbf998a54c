-- @include guard
-- Handing the entries of dead letters on.

-- Unpack fails beyond about eight thousand values, on some servers after something was written.
local MOST_PARTS = 7800
-- Who owns entries that were given back to a group, until one of its consumers claims them; and since when, so
-- that whatever idle time those ask for has passed.
local REPLAYER, LONG_IDLE = '__replay__', 30 * 24 * 3600 * 1000

-- Where groups stand, by "number of the stream's key, space, group"; or the error to return where they are not
-- the ones that the plan told of: {{number of a stream's key, {group, ...}, whether the stream need not exist,
-- whether it may have others}, ...}.
local function told_positions(told)
  local positions = {}
  for _, one in ipairs(told) do
    local key, known = KEYS[one[1]], {}
    local rows, columns = groups_of(key)
    if not rows and not string.find(columns.err, 'no such key', 1, true) then return nil, columns end
    if not rows and not one[3] then return nil, drift('stream ' .. key .. ' is gone') end
    local stands = {}
    for _, row in ipairs(rows or {}) do stands[row[columns['name']]] = row[columns['last-delivered-id']] end
    for _, name in ipairs(one[2]) do
      if not stands[name] then return nil, drift('group ' .. name .. ' of stream ' .. key .. ' is gone') end
      known[name] = true
      positions[one[1] .. ' ' .. name] = stands[name]
    end
    for name in pairs(stands) do
      if not (known[name] or one[4]) then return nil, drift('stream ' .. key .. ' has another group now: ' .. name) end
    end
  end
  return positions
end

-- Whether an error is no single entry's: out of memory, not permitted, read-only, of another type.
local function is_everybodys(err)
  return string.sub(err, 1, 4) ~= 'ERR ' or string.find(err, 'ACL failure', 1, true)
    or string.find(err, 'executing the script', 1, true)
end

-- The error, where the server is out of memory. No entry can have this ID, but memory is looked at before that.
local function out_of_memory(key)
  local answer = redis.pcall('XADD', key, '0-0', 'f', 'v')
  return string.find(answer.err, 'OOM', 1, true) and answer
end

-- Each way returns true, or the new entry's ID; or false and why it was not done; or nil and the server's error.

local function add(key, parts, count)
  if count > MOST_PARTS then return nil, 'ERR it has more fields than a script can write' end
  local added = redis.pcall('XADD', key, '*', unpack(parts, 1, count))
  if type(added) == 'table' then return nil, added.err end
  return added
end

local function add_for_group(key, group, parts, count)
  local made = redis.pcall('XGROUP', 'CREATE', key, group, '0', 'MKSTREAM')
  if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return nil, made.err end
  return add(key, parts, count)
end

local function redeliver(key, group, position, id)
  if not id then return false, 'its entry is not known; --mode retry or republish adds it anew' end
  local entry = redis.call('XRANGE', key, id, id)[1]
  if not entry then return false, 'its entry is gone from the stream; --mode retry or republish adds it anew' end
  if less(position, entry[1]) then return false, 'its group has yet to read it' end
  if redis.call('XPENDING', key, group, id, id, 1)[1] then return false, 'it is pending already' end
  local claimed = redis.pcall('XCLAIM', key, group, REPLAYER, 0, id, 'IDLE', LONG_IDLE, 'RETRYCOUNT', 0,
    'FORCE', 'JUSTID')
  if claimed.err then return nil, claimed.err end
  return true
end
