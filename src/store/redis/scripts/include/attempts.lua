-- What jobs leave behind: attempts by job and number, over all jobs by id, and by the time they
-- expire; skips by the time they are of.

-- @include codec

local function attemptField(seq, number) return seq .. ':' .. number end
local function attemptName(id, seq, number) return id .. NUL .. seq .. NUL .. number end
local function skipsKey(seq) return 'skips:' .. seq end
local function logNamesKey(seq) return 'logs-of:' .. seq end
local function logKey(attempt) return 'log:' .. attempt end

local function indexExpiry(seq, attempt)
  zadd('attempts:by-expiry', attempt.expire, attemptField(seq, attempt.number))
end

-- Attempts of an ended job go with it, unless they expire before.
local function addAttempt(seq, h, attempt, text)
  hset('attempts', attemptField(seq, attempt.number), text)
  zadd('attempts:by-id', 0, attemptName(attempt.id, seq, attempt.number))
  if not h.expire or attempt.expire < h.expire then indexExpiry(seq, attempt) end
  if attempt.number > h.attempts then call('HSET', key('attempts:last'), seq, attempt.number) end
end

local function dropLog(seq, attempt)
  if call('SREM', key(logNamesKey(seq)), attempt) == 1 then call('UNLINK', key(logKey(attempt))) end
end

local function removeAttempt(seq, number, text)
  local attempt, field = decodeAttempt(text), attemptField(seq, number)
  call('HDEL', key('attempts'), field)
  call('ZREM', key('attempts:by-expiry'), field)
  if attempt then
    call('ZREM', key('attempts:by-id'), attemptName(attempt.id, seq, number))
    dropLog(seq, attempt.id)
  end
end

local HOLES_MAX = 100

-- An attempt that goes; if it was the first one kept, the next one is that now.
local function forgetAttempt(seq, number, text)
  removeAttempt(seq, number, text)
  local low = tonumber(call('HGET', key('attempts:first'), seq)) or 1
  if low ~= number then return end
  local row = call('HGET', key('jobs'), seq)
  if not row then return end
  -- The number of a running attempt is given, but not written yet.
  local top, lease = decodeRow(row).attempts + 1, storedLease(seq)
  if lease and not lease.isClaim then top = top - 1 end
  for _ = 1, HOLES_MAX do
    if low >= top then break end
    low = low + 1
    if call('HEXISTS', key('attempts'), attemptField(seq, low)) == 1 then break end
  end
  call('HSET', key('attempts:first'), seq, low)
end

-- If it finished before a time.
local function dropAttempt(seq, number, before)
  local text = call('HGET', key('attempts'), attemptField(seq, number))
  local attempt = decodeAttempt(text)
  if attempt and attempt.finishedAt < before then forgetAttempt(seq, number, text) end
end

-- The first skip from a time stays.
local function addSkip(seq, from, expire, text)
  local name = key(skipsKey(seq))
  if call('ZCOUNT', name, from, from) > 0 then return end
  call('ZADD', name, from, text)
  call('ZADD', key('skips:by-expiry'), expire, seq .. NUL .. from)
end

-- Numbers of attempts that may be there: from the first one kept to the last one given.
local function numbersOf(seq, h, lease)
  local low = tonumber(call('HGET', key('attempts:first'), seq)) or 1
  local last = tonumber(call('HGET', key('attempts:last'), seq)) or 0
  return low, max(attemptsOf(h, lease), last)
end

-- Texts by number, false for those that are not there.
local function attemptTexts(seq, from, to)
  local fields = {}
  for number = from, to, from <= to and 1 or -1 do
    fields[#fields + 1] = attemptField(seq, number)
  end
  return fetch('HMGET', 'attempts', fields)
end

-- Of a job that had ended and goes on.
local function indexExpiries(seq, h)
  local low, high = numbersOf(seq, h)
  for _, text in ipairs(low <= high and attemptTexts(seq, low, high) or {}) do
    local attempt = decodeAttempt(text)
    if attempt then indexExpiry(seq, attempt) end
  end
end

-- Some of what a removed job left behind; answers with the number to go on from.
local function clearHistory(seq, low, high, limit)
  local last = min(high, low + limit - 1)
  if low <= last then
    for i, text in ipairs(attemptTexts(seq, low, last)) do
      if text then removeAttempt(seq, low + i - 1, text) end
    end
  end
  local skips, logs = key(skipsKey(seq)), key(logNamesKey(seq))
  local removed = call('ZPOPMIN', skips, limit)
  for i = 2, #removed, 2 do
    call('ZREM', key('skips:by-expiry'), seq .. NUL .. int(tonumber(removed[i])))
  end
  for _, attempt in ipairs(call('SPOP', logs, limit)) do call('UNLINK', key(logKey(attempt))) end
  if last < high or call('EXISTS', skips, logs) > 0 then return last + 1 end
  call('HDEL', key('attempts:first'), seq)
  call('HDEL', key('attempts:last'), seq)
  return nil
end
