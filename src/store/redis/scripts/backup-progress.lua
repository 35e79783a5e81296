-- Of so many jobs behind the mark those that have progress; begins with how far it came.

-- @include base

if call('EXISTS', key('progress')) == 0 then return { '' } end
local mark, limit = take(), takeNumber()
local jobs = call('ZRANGEBYSCORE', key('jobs:all'), mark == '' and '-inf' or mark, '+inf', 'LIMIT', 0, limit)
local texts = fetch('HMGET', 'progress', jobs)
local reply = { #jobs == limit and jobs[#jobs] or '' }
for i, seq in ipairs(jobs) do
  if texts[i] then
    reply[#reply + 1] = seq
    reply[#reply + 1] = texts[i]
  end
end
return reply
