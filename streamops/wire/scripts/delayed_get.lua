-- Both halves of a delayed message, read at one instant.
-- KEYS: the queue, the bodies. ARGV: its ID.
return {redis.call('ZSCORE', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1])}
