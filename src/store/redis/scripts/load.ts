// Entries of another store, written as they are; whether they may be was looked at before.

import { base } from './base.ts'
import { history } from './history.ts'
import { jobs } from './jobs.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { tallies } from './tallies.ts'

const parts = String.raw`
local function seqOf(id) return call('HGET', P .. 'ids', id) end

local function loadAttempts()
  local count = takeNumber()
  for _ = 1, count do
    local seq, number, id, odd, text = seqOf(take()), take(), take(), take(), take()
    addAttempt(seq, head(call('HGET', P .. 'jobs', seq)).attempts, number, id, odd, text)
    local low = call('HGET', P .. 'lo', seq)
    if not low or tonumber(number) < tonumber(low) then call('HSET', P .. 'lo', seq, number) end
  end
  -- Pruning goes on behind a mark: what came in before it must be seen too.
  if count > 0 then call('HDEL', P .. 'state', 'pruned') end
end

local function loadSkips()
  for _ = 1, takeNumber() do addSkip(seqOf(take()), take(), take(), take()) end
end

local function loadReports()
  for _ = 1, takeNumber() do call('HSET', P .. 'progress', seqOf(take()), take()) end
  for _ = 1, takeNumber() do
    local seq, attempt, text = seqOf(take()), take(), take()
    call('SADD', P .. 'lg:' .. seq, attempt)
    call('RPUSH', P .. 'log:' .. attempt, text)
  end
end

local function loadPruned()
  for _ = 1, takeNumber() do
    local tenant, field, count = take(), take(), take()
    call('HINCRBY', P .. 'pruned', field, count)
    call('HSET', P .. 'tp:' .. tenant, field, count)
    call('ZADD', P .. 'tps', 0, tenant)
  end
end

local function loadRecords()
  for _ = 1, takeNumber() do
    local kind, key, expire, text = take(), take(), take(), take()
    call('HSET', P .. 'rec:' .. kind, key, text)
    call('ZADD', P .. 'rk:' .. kind, 0, key)
    call('SADD', P .. 'kinds', kind)
    if expire ~= '' then call('ZADD', P .. 'rx', expire, kind .. Z .. key) end
  end
end

local function loadQueues()
  for _ = 1, takeNumber() do
    local queue, isPaused, lane = take(), take() == '1', take()
    if isPaused then call('SADD', P .. 'paused', queue) end
    if lane ~= '' then call('HSET', P .. 'cursors', queue, lane) end
  end
end
`

export const loadScript = [
  base,
  places,
  listed,
  tallies,
  jobs,
  history,
  parts,
  String.raw`
local sender = take()
loadQueues()
for _ = 1, takeNumber() do
  addJob(take(), pad(call('INCR', P .. 'seq')), take(), take(), take())
end
flushJobs()
flushTallies()
loadAttempts()
loadSkips()
loadReports()
loadPruned()
loadRecords()
wake(sender)
return 1
`,
].join('\n')
