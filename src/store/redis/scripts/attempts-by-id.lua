-- Attempts of all jobs by id: index entry, attempt, and the first line of the row of its job.

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
local reply = {}
for i, name in ipairs(list) do
  reply[#reply + 1] = name
  reply[#reply + 1] = texts[i] or ''
  reply[#reply + 1] = match(rows[i] or '', '^[^\n]*')
end
return reply
