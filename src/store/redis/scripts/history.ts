// What jobs leave behind: attempts by job and number, and over all jobs by id; skips by moment.

export const history = String.raw`
-- 'odd' is empty, or when the attempt expires if that is out of the order of ids.
local function addAttempt(seq, number, id, odd, text)
  call('ZREMRANGEBYSCORE', P .. 'h:' .. seq, number, number)
  call('ZADD', P .. 'h:' .. seq, number, text)
  call('ZADD', P .. 'ah', 0, id .. Z .. seq .. Z .. number)
  if odd ~= '' then call('ZADD', P .. 'ax', odd, seq .. Z .. number) end
end

-- If it finished before the moment.
local function dropAttempt(seq, number, before)
  local key = P .. 'h:' .. seq
  local text = call('ZRANGEBYSCORE', key, number, number)[1]
  if not text then return end
  local finished, _, _, id = match(text, ATTEMPT)
  if tonumber(finished) >= before then return end
  call('ZREM', key, text)
  forget(seq, text)
  dropLog(seq, id)
end

-- The first skip from a moment stays.
local function addSkip(seq, from, expire, text)
  local key = P .. 'sk:' .. seq
  if call('ZCOUNT', key, from, from) > 0 then return end
  call('ZADD', key, from, text)
  call('ZADD', P .. 'sx', expire, seq .. Z .. from)
end
`
