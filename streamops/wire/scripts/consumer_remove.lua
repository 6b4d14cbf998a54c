-- Removes a consumer that has nothing pending: removing it with something pending would lose that for good.
-- KEYS[1]: the stream. ARGV: the group, where it stood when the plan was made, the consumer.
-- Returns 1; or 0 where it has pending entries, and nothing was done.
-- @include guard
local key, group, consumer = KEYS[1], ARGV[1], ARGV[3]
local problem = group_drift(key, group, ARGV[2])
if problem then return problem end
if #redis.call('XPENDING', key, group, '-', '+', 1, consumer) > 0 then return 0 end
redis.call('XGROUP', 'DELCONSUMER', key, group, consumer)
return 1
