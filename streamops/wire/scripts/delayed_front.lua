-- What a queue of delayed messages holds, and when the first message of it is due; reads only.
-- KEYS: the queue, the bodies. ARGV: what counts as now in milliseconds, or '' for the server's clock.
-- Returns {members, bodies, messages due, when the first message is due or '', foreign members at the least}. Behind
-- MOST foreign members no message is found.
-- @include delayed_body
local MOST, MOST_BYTES, AT_ONCE = 500, 262144, 4
local queue, bodies, now = KEYS[1], KEYS[2], ARGV[1]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
local members, stored = redis.call('ZCARD', queue), redis.call('HLEN', bodies)
local due = redis.call('ZCOUNT', queue, '-inf', now)
local first, foreign, bytes = '', 0, 0
while first == '' and foreign < math.min(members, MOST) and bytes < MOST_BYTES do
  local rows = redis.call('ZRANGE', queue, foreign, foreign + AT_ONCE - 1, 'WITHSCORES')
  local ids = {}
  for at = 1, #rows, 2 do ids[#ids + 1] = rows[at] end
  local raws = redis.call('HMGET', bodies, unpack(ids))
  for number = 1, #ids do
    local raw = raws[number]
    bytes = bytes + (raw and #raw or 0)
    if not is_foreign(raw) then
      first = rows[2 * number]
      break
    end
    foreign = foreign + 1
  end
end
return {members, stored, math.min(math.max(0, due - foreign), stored), first, math.max(foreign, members - stored)}
