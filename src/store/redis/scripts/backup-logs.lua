-- Of so many jobs from the mark on those whose attempts have logs, with these attempts; begins with
-- how far it came.

-- @include attempts

local mark, limit = take(), takeNumber()
local jobs = call('ZRANGEBYSCORE', key('jobs:all'), mark == '' and '-inf' or mark, '+inf', 'LIMIT', 0, limit)
local reply = { #jobs == limit and jobs[#jobs] or '' }
for _, seq in ipairs(jobs) do
  local attempts = call('SMEMBERS', key(logNamesKey(seq)))
  if #attempts > 0 then reply[#reply + 1] = { seq, attempts } end
end
return reply
