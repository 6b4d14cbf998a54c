-- Entry IDs are 64-bit numbers, which Lua's doubles cannot hold: they are compared as text.

local function parts(id)
  local dash = string.find(id, '-', 1, true)
  if not dash then return id, '0' end
  return string.sub(id, 1, dash - 1), string.sub(id, dash + 1)
end

local function less_number(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- Whether an ID comes before another. Neither has leading zeros.
local function less(a, b)
  local a_ms, a_seq = parts(a)
  local b_ms, b_seq = parts(b)
  if a_ms ~= b_ms then return less_number(a_ms, b_ms) end
  return less_number(a_seq, b_seq)
end
