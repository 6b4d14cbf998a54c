-- Writes a worker's heartbeat, which ends by itself.
-- KEYS[1]: its key. ARGV[1]: for how many milliseconds; then names and values in turn.
-- Returns the server's clock in milliseconds.
local now = redis.call('TIME')
local ms = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
redis.call('HSET', KEYS[1], 'beat_ms', ms, unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return ms
