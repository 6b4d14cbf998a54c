-- Counts entries after ARGV[1] up to ARGV[2], at most ARGV[3], without shipping them.
-- KEYS[1]: the stream.
-- Returns {how many, ID of the last one counted | false}.
local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], ARGV[2], 'COUNT', ARGV[3])
return {#entries, #entries > 0 and entries[#entries][1] or false}
