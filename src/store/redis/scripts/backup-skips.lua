-- Skips of all jobs by their end, from a position on: number of the job, end, text.

-- @include attempts

local from, limit = takeNumber(), takeNumber()
local list = call('ZRANGE', key('skips:by-expiry'), from, from + limit - 1, 'WITHSCORES')
local reply = {}
for i = 1, #list, 2 do
  local seq, first = match(list[i], '^(%d+)%z(%-?%d+)$')
  reply[#reply + 1] = seq
  reply[#reply + 1] = list[i + 1]
  reply[#reply + 1] = call('ZRANGEBYSCORE', key(skipsKey(seq)), first, first)[1] or ''
end
return reply
