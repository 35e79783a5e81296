-- Attempts of all jobs by id: index entry, attempt, and of its job the row and the first line of
-- its definition.

-- @include codec

local isNewest, from, limit = takeFlag(), take(), take()
local command, to = isNewest and 'ZREVRANGEBYLEX' or 'ZRANGEBYLEX', isNewest and '-' or '+'
local list = call(command, key('attempts:by-id'), from, to, 'LIMIT', 0, limit)
local seqs, fields = {}, {}
for i, name in ipairs(list) do
  local seq, number = match(name, '%z(%d+)%z(%d+)$')
  seqs[i], fields[i] = seq, seq .. ':' .. number
end
local rows, texts = fetch('HMGET', 'jobs', seqs), fetch('HMGET', 'attempts', fields)
local definitions = fetch('HMGET', 'definitions', seqs)
local reply = {}
for i, name in ipairs(list) do
  local definition = match(definitions[i] or '', '^[^\n]*')
  for _, text in ipairs({ name, texts[i] or '', rows[i] or '', definition }) do
    reply[#reply + 1] = text
  end
end
return reply
