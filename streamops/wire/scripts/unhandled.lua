-- For how long business keys are remembered, only the group's workers know: longer than that, seldom.
local REMEMBERED = 30 * 86400000

-- Notes entries down that were deleted before they were handled, by the fields of their marks.
local function note_unhandled(key, fields)
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  for _, field in ipairs(fields) do redis.call('ZADD', key, now, field) end
  if redis.call('PTTL', key) < REMEMBERED then redis.call('PEXPIRE', key, string.format('%.0f', REMEMBERED)) end
end
