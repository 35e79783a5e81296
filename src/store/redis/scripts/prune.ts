// Retention: bounded bites of what has expired, oldest first.

import { history } from './history.ts'
import { HISTORY_BITE } from './jobs.ts'
import { removing } from './upkeep.ts'

/** Skips are small and few; one bite takes more of them. */
const SKIPS_FACTOR = 100

/** Jobs that expire in the same millisecond go by number, as long as they are no more than this. */
export const TOGETHER_MAX = 4_000

const agedAttempts = String.raw`
local function isAmongNewest(seq, number)
  local row = call('HGET', P .. 'jobs', seq)
  if not row then return false end
  local h = head(row)
  local lease = call('HGET', P .. 'leases', seq)
  local given = tonumber(h.attempts)
  if lease and leaseOf(lease).flag == 'c' then given = given + 1 end
  return tonumber(number) > given - tonumber(h.keep)
end

-- Age no longer protects it: gone, unless it is among the newest its job keeps.
local function pruneAttempt(seq, number, text)
  if isAmongNewest(seq, number) then return 0 end
  forgetAttempt(seq, number, text)
  return 1
end

local function attemptText(seq, number)
  return call('HGET', P .. 'h', seq .. ':' .. number)
end

local function pruneOdd(now, limit)
  local list = call('ZRANGEBYSCORE', P .. 'ax', '-inf', int(now), 'LIMIT', 0, limit)
  local removed = 0
  for _, member in ipairs(list) do
    local seq, number = match(member, '^(%d+)%z(%d+)$')
    local text = attemptText(seq, number)
    call('ZREM', P .. 'ax', member)
    if text then removed = removed + pruneAttempt(seq, number, text) end
  end
  return #list, removed
end

-- Attempts of the usual retention expire in the order of their ids: goes on behind the last seen.
local function pruneUsual(now, limit)
  local mark = call('HGET', P .. 'state', 'pruned')
  local from = mark and '(' .. mark or '-'
  local list = limit > 0 and call('ZRANGEBYLEX', P .. 'ah', from, '+', 'LIMIT', 0, limit) or {}
  local seen, removed, last = 0, 0, nil
  for _, member in ipairs(list) do
    local seq, number = match(member, '%z(%d+)%z(%d+)$')
    local text = attemptText(seq, number)
    local isOdd = call('ZSCORE', P .. 'ax', seq .. Z .. number)
    if not text then
      call('ZREM', P .. 'ah', member)
    elseif not isOdd then
      local _, _, _, expire = match(text, ATTEMPT)
      if tonumber(expire) > now then break end
      removed = removed + pruneAttempt(seq, number, text)
    end
    seen, last = seen + 1, member
  end
  if last then call('HSET', P .. 'state', 'pruned', last) end
  return seen, removed
end
`

const agedJobs = String.raw`
local function byAge(list)
  sort(list, function(a, b)
    if a.expire ~= b.expire then return a.expire < b.expire end
    return a.seq < b.seq
  end)
end

local ENTRIES = 50
-- So many are looked at for the order of those that expire together.
local TOGETHER_MAX = ${TOGETHER_MAX}

-- Ended jobs of one kind and queue up to a moment, oldest first: at least so many, and those that
-- expire together with the last. An entry is one job, or several that ended at once; those that
-- are there no more, or ended anew, are passed over.
local function endedOf(kind, queue, till, wanted)
  local key, found, offset = P .. 'exp:' .. kind .. ':' .. queue, {}, 0
  while true do
    local list = call('ZRANGEBYSCORE', key, '-inf', till, 'WITHSCORES', 'LIMIT', offset, ENTRIES)
    for n = 1, #list, 2 do
      local expire, seqs, isLive = tonumber(list[n + 1]), {}, false
      local isEnough = #found >= wanted and #found > 0
      if isEnough and (found[#found].expire ~= expire or #found >= TOGETHER_MAX) then
        return found
      end
      for seq in gmatch(list[n], '%d+') do seqs[#seqs + 1] = seq end
      for i, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do
        local h = row and head(row)
        if h and h.queue == queue and h.kind == kind and tonumber(h.expire) == expire then
          isLive = true
          found[#found + 1] = { seq = seqs[i], expire = expire, h = h }
        end
      end
      if isLive then
        offset = offset + 1
      else
        call('ZREM', key, list[n])
      end
    end
    if #list < 2 * ENTRIES then return found end
  end
end

local function endedTasks(lines)
  local count = 0
  for _, line in ipairs(lines) do
    for state = 3, 5 do
      local field = line .. Z .. '1' .. Z .. state
      count = count + tonumber(call('HGET', P .. 'tallies', field) or 0)
    end
  end
  return count
end

-- Ended jobs past their time, then the oldest tasks above the number a queue may hold.
local function goingJobs(now, limit, tasksMax)
  local queues, expired, beyond = {}, {}, {}
  for _, line in ipairs(call('SMEMBERS', P .. 'lines')) do
    local queue = match(line, '^([^%z]*)')
    if not queues[queue] then queues[queue] = {} end
    insert(queues[queue], line)
  end
  for queue, lines in pairs(queues) do
    for kind = 0, 1 do
      for _, job in ipairs(endedOf(int(kind), queue, int(now), limit)) do insert(expired, job) end
    end
    local over = min(endedTasks(lines) - tasksMax, limit)
    if over > 0 then
      local oldest = endedOf('1', queue, '+inf', over)
      byAge(oldest)
      for i = 1, min(over, #oldest) do insert(beyond, oldest[i]) end
    end
  end
  byAge(expired)
  byAge(beyond)
  local going, seen = {}, {}
  for _, list in ipairs({ expired, beyond }) do
    for _, job in ipairs(list) do
      if #going < limit and not seen[job.seq] then
        seen[job.seq] = true
        going[#going + 1] = job
      end
    end
  end
  return going
end

local function pruneJobs(now, limit, tasksMax)
  local going, seqs = goingJobs(now, limit, tasksMax), {}
  for i, job in ipairs(going) do seqs[i] = job.seq end
  local colds = fetch('HMGET', P .. 'specs', seqs)
  for i, job in ipairs(going) do
    local h = job.h
    local field = concat({ h.queue, h.handler, h.kind, h.state }, Z)
    call('HINCRBY', P .. 'pruned', field, 1)
    call('HINCRBY', P .. 'tp:' .. h.tenant, field, 1)
    call('ZADD', P .. 'tps', 0, h.tenant)
    removeJob(job.seq, h, colds[i], false)
  end
  flushTallies()
  return #going
end
`

const agedRest = String.raw`
local function pruneSkips(now, limit)
  local list = call('ZRANGEBYSCORE', P .. 'sx', '-inf', int(now), 'LIMIT', 0, limit)
  for _, member in ipairs(list) do
    local seq, from = match(member, '^(%d+)%z(%-?%d+)$')
    call('ZREMRANGEBYSCORE', P .. 'sk:' .. seq, from, from)
  end
  batch('ZREM', P .. 'sx', list)
  return #list
end

local function pruneExpired(now, limit)
  local list = call('ZRANGEBYSCORE', P .. 'rx', '-inf', int(now), 'LIMIT', 0, limit)
  for _, member in ipairs(list) do dropRecord(match(member, '^([^%z]*)%z([^%z]*)$')) end
  return #list
end

-- The history of jobs that are gone and had too much of it to go at once.
local function emptyTrash(limit)
  local seq, left = unpack(call('HRANDFIELD', P .. 'trash', 1, 'WITHVALUES'))
  if not seq then return false end
  local low, high = match(left, '^(%d+):(%d+)$')
  local next = clearHistory(seq, tonumber(low), tonumber(high), max(limit, ${HISTORY_BITE}))
  if next then
    call('HSET', P .. 'trash', seq, int(next) .. ':' .. high)
  else
    call('HDEL', P .. 'trash', seq)
  end
  return call('HLEN', P .. 'trash') > 0
end
`

export const pruneScript = [
  ...removing,
  history,
  agedAttempts,
  agedJobs,
  agedRest,
  String.raw`
local now, limit, tasksMax = takeNumber(), takeNumber(), takeNumber()
local oddSeen, oddRemoved = pruneOdd(now, limit)
local seen, removed = pruneUsual(now, limit - oddSeen)
local skips = pruneSkips(now, limit * ${SKIPS_FACTOR})
local gone = pruneJobs(now, limit, tasksMax)
local expired = pruneExpired(now, limit)
local isMore = emptyTrash(limit)
local isFull = isMore or oddSeen + seen == limit or gone == limit or expired == limit
  or skips == limit * ${SKIPS_FACTOR}
return { oddRemoved + removed, gone, expired, isFull and 1 or 0 }
`,
].join('\n')
