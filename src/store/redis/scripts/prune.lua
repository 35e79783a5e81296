-- Retention: limited batches of what has expired, the oldest first.

-- @include constants
-- @include jobs
-- @include records

-- Skips are small; one batch takes more of them.
local SKIPS_FACTOR = 100
-- Entries of what ended that are read at once.
local ENTRIES = 50

-- Age protects it no longer: gone, unless it is among the newest its job keeps.
local function pruneAttempt(seq, number)
  local text = call('HGET', key('attempts'), attemptField(seq, number))
  if not text then return 0 end
  local row = call('HGET', key('jobs'), seq)
  if row then
    local h = decodeRow(row)
    local lease = storedLease(seq)
    if number > attemptsOf(h, lease) - h.keep then return 0 end
  end
  forgetAttempt(seq, number, text)
  return 1
end

local function pruneAttempts(now, limit)
  local list = call('ZRANGEBYSCORE', key('attempts:by-expiry'), '-inf', int(now), 'LIMIT', 0, limit)
  local removed = 0
  for _, field in ipairs(list) do
    local seq, number = match(field, '^(%d+):(%d+)$')
    call('ZREM', key('attempts:by-expiry'), field)
    removed = removed + pruneAttempt(seq, tonumber(number))
  end
  return #list, removed
end

-- Jobs of an entry that are still there and did not end anew.
local function addEnded(found, entry, expire, kind, queue)
  local seqs, before = {}, #found
  for seq in gmatch(entry, '%d+') do seqs[#seqs + 1] = seq end
  for i, row in ipairs(fetch('HMGET', 'jobs', seqs)) do
    local h = decodeRow(row)
    if row and h.queue == queue and h.kind == kind and h.expire == expire then
      found[#found + 1] = { seq = seqs[i], time = expire, h = h }
    end
  end
  return #found > before
end

-- Ended jobs of one kind and queue up to a time, the oldest first: at least so many, and those that
-- expire together with the last.
local function endedJobs(kind, queue, till, wanted)
  local name, found, offset = key(endedKey(kind, queue)), {}, 0
  while true do
    local list = call('ZRANGEBYSCORE', name, '-inf', till, 'WITHSCORES', 'LIMIT', offset, ENTRIES)
    for i = 1, #list, 2 do
      local expire, n = tonumber(list[i + 1]), #found
      if n >= wanted and n > 0 and (found[n].time ~= expire or n >= TOGETHER_MAX) then return found end
      if addEnded(found, list[i], expire, kind, queue) then
        offset = offset + 1
      else
        call('ZREM', name, list[i])
      end
    end
    if #list < 2 * ENTRIES then return found end
  end
end

local function countEndedTasks(routes)
  local n = 0
  for _, route in ipairs(routes) do
    for state = 3, 5 do
      n = n + (tonumber(call('HGET', key('counts'), countField(route, 1, state))) or 0)
    end
  end
  return n
end

-- Ended jobs past their time, then the oldest tasks above the number a queue may hold.
local function expiredJobs(now, limit, tasksMax)
  local queues, expired, beyond = {}, {}, {}
  for _, route in ipairs(call('SMEMBERS', key('routes'))) do
    push(queues, match(route, '^([^%z]*)'), route)
  end
  for queue, routes in pairs(queues) do
    for kind = 0, 1 do
      for _, job in ipairs(endedJobs(kind, queue, int(now), limit)) do insert(expired, job) end
    end
    local over = min(countEndedTasks(routes) - tasksMax, limit)
    if over > 0 then
      local oldest = endedJobs(1, queue, '+inf', over)
      sort(oldest, isEarlier)
      for i = 1, min(over, #oldest) do insert(beyond, oldest[i]) end
    end
  end
  sort(expired, isEarlier)
  sort(beyond, isEarlier)
  local going, isGoing = {}, {}
  for _, list in ipairs({ expired, beyond }) do
    for _, job in ipairs(list) do
      if #going < limit and not isGoing[job.seq] then
        isGoing[job.seq] = true
        going[#going + 1] = job
      end
    end
  end
  return going
end

local function pruneJobs(now, limit, tasksMax)
  local going = expiredJobs(now, limit, tasksMax)
  for _, job in ipairs(going) do
    local field = countField(job.h.route, job.h.kind, job.h.state)
    call('HINCRBY', key('pruned'), field, 1)
    call('HINCRBY', key('pruned:by-tenant:' .. job.h.tenant), field, 1)
    call('ZADD', key('pruned:tenants'), 0, job.h.tenant)
    removeJob(job.seq, job.h, nil)
  end
  flush()
  flushCounts()
  return #going
end

local function pruneSkips(now, limit)
  local list = call('ZRANGEBYSCORE', key('skips:by-expiry'), '-inf', int(now), 'LIMIT', 0, limit)
  for _, name in ipairs(list) do
    local seq, from = match(name, '^(%d+)%z(%-?%d+)$')
    call('ZREMRANGEBYSCORE', key(skipsKey(seq)), from, from)
  end
  batch('ZREM', 'skips:by-expiry', list)
  return #list
end

local function pruneRecords(now, limit)
  local list = call('ZRANGEBYSCORE', key(EXPIRING), '-inf', int(now), 'LIMIT', 0, limit)
  for _, name in ipairs(list) do dropRecord(match(name, '^([^%z]*)%z([^%z]*)$')) end
  return #list
end

-- The history of jobs that are gone and had too much of it to go at once.
local function pruneRemovedHistory(limit)
  local seq, left = unpack(call('HRANDFIELD', key('removed-history'), 1, 'WITHVALUES'))
  if not seq then return false end
  local low, high = match(left, '^(%d+):(%d+)$')
  local next = clearHistory(seq, tonumber(low), tonumber(high), max(limit, HISTORY_BATCH))
  if next then
    call('HSET', key('removed-history'), seq, int(next) .. ':' .. high)
  else
    call('HDEL', key('removed-history'), seq)
  end
  return call('HLEN', key('removed-history')) > 0
end

local now, limit, tasksMax = takeNumber(), takeNumber(), takeNumber()
local seen, attempts = pruneAttempts(now, limit)
local skips = pruneSkips(now, limit * SKIPS_FACTOR)
local jobs = pruneJobs(now, limit, tasksMax)
local expired = pruneRecords(now, limit)
local isMore = pruneRemovedHistory(limit)
local isFull = isMore or seen == limit or jobs == limit or expired == limit
  or skips == limit * SKIPS_FACTOR
return { attempts, jobs, expired, isFull and 1 or 0 }
