-- Where what somebody wrote may lead, as model/authority.py says: to what lies beside the stream with a tag.
local RETRIES, PAYLOADS = ':retry:', ':payload:'

local function begins_with(key, start) return string.sub(key, 1, #start) == start end

-- Whether a key is a stream itself; orders and {orders} have the same tag.
local function is_stream_of(key, tag) return key == tag or '{' .. key .. '}' == tag end
