-- Acknowledges entries that are still pending under a consumer's name, and adds the messages that their handlers
-- published: all of an entry's messages and its acknowledgement, or none of them.
-- KEYS: the stream or its retry stream, the marks, the stream, then streams to publish to and payloads. ARGV: the group,
-- the consumer, 1 in a retry stream and else 0, what the fields of marks begin with, then of each entry its ID, the number
-- of its payload's key or 0, the digest of its fields or '', how many messages it has, and of each the number of its
-- stream's key, the cap or '', how many names and values it has, and these.
-- Returns for each {word}: "done", "not_ours", "superseded", or {"refused", the number of a stream's key, the error}.
-- @include consume_payloads
-- @include consume_settling
local key, marks, stream, group, consumer = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local retries, prefix = ARGV[3] == '1', ARGV[4]

-- Memory and whether this is a replica are looked at until a script has called something that writes. No entry can have
-- this ID, and nothing is created for it.
local refusal, passing = redis.pcall('XADD', KEYS[4], '0-0', 'f', 'v'), true
for _, words in ipairs({'0-0', 'WRONGTYPE', 'ACL failure', 'executing the script'}) do
  if string.find(refusal.err, words, 1, true) then passing = false end
end
if passing then return refusal end
require_removal(key, group, marks, retries)

local function add(message)
  local target = KEYS[message.key]
  if message.cap == '' then return redis.pcall('XADD', target, '*', unpack(ARGV, message.first, message.last)) end
  return redis.pcall('XADD', target, 'MAXLEN', '~', message.cap, '*', unpack(ARGV, message.first, message.last))
end

local function publish(id, digest, messages)
  if not is_own(key, group, consumer, id) then return {'not_ours'} end
  if not is_same_entry(key, id, digest) then return {'superseded'} end
  local added = {}
  for number, message in ipairs(messages) do
    local answer = add(message)
    if type(answer) == 'table' then
      for at, one in ipairs(added) do redis.call('XDEL', KEYS[messages[at].key], one) end
      return {'refused', message.key, answer.err}
    end
    added[number] = answer
  end
  remove(key, group, marks, retries, prefix, id)
  return {'done'}
end

local became, payloads, at = {}, {}, 5
while at <= #ARGV do
  local id, payload, digest, messages = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2], {}
  local count = tonumber(ARGV[at + 3])
  at = at + 4
  for number = 1, count do
    local parts = tonumber(ARGV[at + 2])
    messages[number] = {key = tonumber(ARGV[at]), cap = ARGV[at + 1], first = at + 3, last = at + 2 + parts}
    at = at + 3 + parts
  end
  local answer = publish(id, digest, messages)
  became[#became + 1] = answer
  if payload > 0 and answer[1] == 'done' then payloads[#payloads + 1] = KEYS[payload] end
end
drop_payloads(stream, group, payloads)
return became
