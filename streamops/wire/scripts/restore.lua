-- Adds entries of a file to a stream, each once: a marker beside the stream says how many records are done.
-- KEYS: the stream, the marker. ARGV:
--   1 what the marker says, "0" where there is none   2 what it will say   3 seconds that it is kept
--   4 "1" where the stream may be created             then for each entry: its ID or "*", how many parts, the parts
-- Returns {1}; or {0, what the marker says} where it says something else, and nothing was done.
-- Only the first XADD can be refused: the IDs ascend, and memory is asked for before the first write alone.
-- @include guard
local key, marker = KEYS[1], KEYS[2]
local said = redis.call('GET', marker) or '0'
if said ~= ARGV[1] then return {0, said} end
if ARGV[4] ~= '1' and redis.call('EXISTS', key) == 0 then return drift('the stream is gone') end

local at = 5
while at <= #ARGV do
  local count = tonumber(ARGV[at + 1])
  local added = redis.pcall('XADD', key, ARGV[at], unpack(ARGV, at + 2, at + 1 + count))
  if type(added) == 'table' and added.err then
    if string.find(added.err, 'equal or smaller', 1, true) then
      return drift('it has entries from ' .. ARGV[at] .. ' on by now')
    end
    return added
  end
  at = at + 2 + count
end
redis.call('SET', marker, ARGV[2], 'EX', ARGV[3])
return {1}
