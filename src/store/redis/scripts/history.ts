// What jobs leave behind: attempts by job and number, and over all jobs by id; skips by moment.

export const history = String.raw`
-- 'odd' is empty, or when the attempt expires if that is out of the order of ids.
local function addAttempt(seq, given, number, id, odd, text)
  call('HSET', P .. 'h', seq .. ':' .. number, text)
  call('ZADD', P .. 'ah', 0, id .. Z .. seq .. Z .. number)
  if odd ~= '' then call('ZADD', P .. 'ax', odd, seq .. Z .. number) end
  if tonumber(number) > tonumber(given) then call('HSET', P .. 'hi', seq, number) end
end

local HOLES_MAX = 100

-- An attempt that goes; if it was the first one kept, the next one is that now.
local function forgetAttempt(seq, number, text)
  dropText(seq, number, text)
  local low = tonumber(call('HGET', P .. 'lo', seq) or 1)
  if low ~= tonumber(number) then return end
  local row = call('HGET', P .. 'jobs', seq)
  if not row then return end
  -- The number of a live attempt is given, but not written yet.
  local top, lease = tonumber(head(row).attempts) + 1, call('HGET', P .. 'leases', seq)
  if lease and leaseOf(lease).flag == 'w' then top = top - 1 end
  for _ = 1, HOLES_MAX do
    if low >= top then break end
    low = low + 1
    if call('HEXISTS', P .. 'h', seq .. ':' .. int(low)) == 1 then break end
  end
  call('HSET', P .. 'lo', seq, int(low))
end

-- If it finished before the moment.
local function dropAttempt(seq, number, before)
  local text = call('HGET', P .. 'h', seq .. ':' .. number)
  if not text then return end
  local _, _, finished = match(text, ATTEMPT)
  if tonumber(finished) < before then forgetAttempt(seq, number, text) end
end

-- The first skip from a moment stays.
local function addSkip(seq, from, expire, text)
  local key = P .. 'sk:' .. seq
  if call('ZCOUNT', key, from, from) > 0 then return end
  call('ZADD', key, from, text)
  call('ZADD', P .. 'sx', expire, seq .. Z .. from)
end
`
