-- Entries of another store, written as they are; whether they may be was checked before.

-- @include jobs
-- @include records

local function seqOf(id) return call('HGET', key('ids'), id) end

local function loadQueues()
  for _ = 1, takeNumber() do
    local queue, isPaused, lane = take(), takeFlag(), take()
    if isPaused then call('SADD', key('queues:paused'), queue) end
    if lane ~= '' then call('HSET', key('queues:turn'), queue, lane) end
  end
end

local function loadJobs(now)
  for _ = 1, takeNumber() do
    local made = takeJob()
    addJob(nextSequence(), made, decodeRow(made.row), now)
  end
  flush()
  flushCounts()
end

local function loadAttempts()
  for _ = 1, takeNumber() do
    local seq, text = seqOf(take()), take()
    local attempt = decodeAttempt(text)
    addAttempt(seq, decodeRow(call('HGET', key('jobs'), seq)), attempt, text)
    local low = tonumber(call('HGET', key('attempts:first'), seq))
    if not low or attempt.number < low then
      call('HSET', key('attempts:first'), seq, attempt.number)
    end
  end
  flushWrites()
end

local function loadSkips()
  for _ = 1, takeNumber() do addSkip(seqOf(take()), take(), take(), take()) end
end

local function loadReports()
  for _ = 1, takeNumber() do call('HSET', key('progress'), seqOf(take()), take()) end
  for _ = 1, takeNumber() do
    local seq, attempt, text = seqOf(take()), take(), take()
    call('SADD', key(logNamesKey(seq)), attempt)
    call('RPUSH', key(logKey(attempt)), text)
  end
end

local function loadPruned()
  for _ = 1, takeNumber() do
    local tenant, field, n = take(), take(), take()
    call('HINCRBY', key('pruned'), field, n)
    call('HSET', key('pruned:by-tenant:' .. tenant), field, n)
    call('ZADD', key('pruned:tenants'), 0, tenant)
  end
end

local sender, now = take(), takeNumber()
loadQueues()
loadJobs(now)
loadAttempts()
loadSkips()
loadReports()
loadPruned()
for _ = 1, takeNumber() do storeRecord(take(), take(), take(), take()) end
wake(sender)
return 1
