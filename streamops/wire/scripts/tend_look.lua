-- Looks at a page of a group's pending entries as if it were to be tended; writes nothing.
-- KEYS[1]: the stream. ARGV: the group, who gets entries again where it is somebody, the least idle time in
-- milliseconds, how many deliveries are the most, where to begin, how many rows to look at, and at how many bytes of
-- entries to stop.
-- Returns {last ID looked at, 1 if the end was reached, how many to redeliver, to bury, gone and waiting, owners with
-- the number of their rows, {{ID, owner, idle milliseconds, deliveries, what becomes of it}, ...}: the first few}.
-- @include tend_rows
local SAMPLE, LARGEST = 10, 9007199254740991
local key, group, to = KEYS[1], ARGV[1], ARGV[2]
local min_idle, most = tonumber(ARGV[3]), tonumber(ARGV[4])
local look, room = tonumber(ARGV[6]), tonumber(ARGV[7])
local counts, owners, names, sample = {redeliver = 0, bury = 0, gone = 0, wait = 0}, {}, {}, {}

local page = redis.call('XPENDING', key, group, ARGV[5], '+', look)
local last, ended, bytes = '', #page < look, 0
for _, row in ipairs(page) do
  if bytes >= room then
    ended = false
    break
  end
  last = row[1]
  if row[3] >= min_idle then
    local what, deliveries, parts = fate(key, row, most, to)
    bytes = bytes + bytes_of(parts)
    counts[what] = counts[what] + 1
    if what ~= 'wait' then
      if not owners[row[2]] then names[#names + 1], owners[row[2]] = row[2], 0 end
      owners[row[2]] = owners[row[2]] + 1
      if #sample < SAMPLE then sample[#sample + 1] = {row[1], row[2], row[3], math.min(deliveries, LARGEST), what} end
    end
  end
end
local told = {}
for at, name in ipairs(names) do told[2 * at - 1], told[2 * at] = name, owners[name] end
return {last, ended and 1 or 0, counts.redeliver, counts.bury, counts.gone, counts.wait, told, sample}
