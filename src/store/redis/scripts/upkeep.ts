// Leases, reports, queues, records and removal.

import { limits } from '../../../core/limits.ts'
import { base } from './base.ts'
import { jobs } from './jobs.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { records } from './records.ts'
import { tallies } from './tallies.ts'

const holding = String.raw`
-- The number of the job and its lease, if token and fence are still those.
local function heldBy(id, token, fence)
  local seq = call('HGET', P .. 'ids', id)
  local text = seq and call('HGET', P .. 'leases', seq)
  if not text then return nil end
  local lease = leaseOf(text)
  if lease.token ~= token then return nil end
  local held = tonumber(match(call('HGET', P .. 'jobs', seq), '^%d+%z(%d+)'))
  if lease.flag == 'c' then held = held + 1 end
  if held ~= tonumber(fence) then return nil end
  return seq, lease
end
`

/** Versions of the leases that hold, -1 for those that do not; without an end it only looks. */
export const renewScript = [
  base,
  holding,
  String.raw`
local till, results = take(), {}
for i = 1, takeNumber() do
  local seq, lease = heldBy(take(), take(), take())
  if not seq then
    results[i] = '-1'
  elseif till == '' then
    results[i] = lease.version
  else
    local version = int(lease.version + 1)
    call('HSET', P .. 'leases', seq, concat({
      version, lease.token, lease.flag, lease.attempt, lease.owner, lease.claimed, till,
    }, Z))
    call('ZADD', P .. 'claims', 'LT', till, lease.token)
    results[i] = version
  end
end
return results
`,
].join('\n')

/** Progress is 'attempt, fraction, note, moment, checkpoint'; '-' is nothing, '=' begins a value. */
export const reportScript = [
  base,
  holding,
  String.raw`
local PROGRESS = '^([^%z]*)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z(.*)$'
local moment, results = take(), {}
for i = 1, takeNumber() do
  local seq = heldBy(take(), take(), take())
  local attempt, isTold, fraction, note, checkpoint =
    take(), take() == '1', take(), take(), take()
  local lines = {}
  for n = 1, takeNumber() do lines[n] = take() end
  results[i] = seq and 1 or 0
  if seq and (isTold or checkpoint ~= '-') then
    local before = call('HGET', P .. 'progress', seq)
    if before then
      local of, oldFraction, oldNote, _, oldCheckpoint = match(before, PROGRESS)
      if not isTold and of == attempt then fraction, note = oldFraction, oldNote end
      if checkpoint == '-' then checkpoint = oldCheckpoint end
    end
    local text = concat({ attempt, fraction, note, moment, checkpoint }, Z)
    call('HSET', P .. 'progress', seq, text)
  end
  if seq and #lines > 0 then
    local key = P .. 'log:' .. attempt
    local room = ${limits.logLinesPerAttempt} - call('LLEN', key)
    for n = #lines, room + 1, -1 do lines[n] = nil end
    call('SADD', P .. 'lg:' .. seq, attempt)
    batch('RPUSH', key, lines)
  end
end
return results
`,
].join('\n')

export const pauseScript = [
  base,
  String.raw`
local sender, queue, isPaused = take(), take(), take() == '1'
if isPaused then
  call('SADD', P .. 'paused', queue)
elseif call('SREM', P .. 'paused', queue) == 1 then
  call('SPUBLISH', P .. 'wake', sender)
end
return 1
`,
].join('\n')

/** An attempt in place of the same one without measures, if nobody else wrote it meanwhile. */
export const addMeasuresScript = [
  base,
  String.raw`
local name, before, after = take(), take(), take()
if call('HGET', P .. 'h', name) ~= before then return 0 end
call('HSET', P .. 'h', name, after)
return 1
`,
].join('\n')

export const beatScript = [
  base,
  records,
  String.raw`
local kind, owner, kept = take(), take(), takeNumber()
local at = tonumber(take()) or serverNow()
local write = { kind = kind, key = owner, expire = int(at + kept), value = int(at) }
putRecord(write, at)
return 1
`,
].join('\n')

export const putRecordsScript = [
  base,
  records,
  String.raw`
local now, results = takeNumber(), {}
for i, write in ipairs(takeRecords()) do
  if recordFits(write, now) then
    putRecord(write, now)
    results[i] = 1
  else
    results[i] = 0
  end
end
return results
`,
].join('\n')

export const removing = [base, places, listed, tallies, jobs, records]

export const removeScript = [
  ...removing,
  String.raw`
local now = takeNumber()
local writes = takeRecords()
local results, isAny = {}, false
for i = 1, takeNumber() do
  local id = take()
  local seq = call('HGET', P .. 'ids', id)
  results[i] = seq and 1 or 0
  if seq then
    isAny = true
    local h, cold = head(call('HGET', P .. 'jobs', seq)), call('HGET', P .. 'specs', seq)
    if h == NO_HEAD or not match(cold or '', COLD) then
      removeDamaged(seq, id, cold)
    else
      removeJob(seq, h, cold, call('HGET', P .. 'leases', seq))
    end
  end
end
flushTallies()
if isAny then
  for _, write in ipairs(writes) do
    if recordFits(write, now) then putRecord(write, now) end
  end
end
return results
`,
].join('\n')

/**
 * Writes a job that failed in place of a record that does not decode, unless the record changed
 * since it was read. Answers whether it did.
 */
export const setAsideScript = [
  ...removing,
  String.raw`
local seq, id, row, cold = take(), take(), take(), take()
local oldRow, oldCold = call('HGET', P .. 'jobs', seq) or '', call('HGET', P .. 'specs', seq) or ''
if take() ~= oldRow or take() ~= oldCold then return 0 end
local h, lease = head(oldRow), call('HGET', P .. 'leases', seq)
local told, after = scrub(seq), head(row)
if h ~= NO_HEAD then
  told = { tenant = h.tenant, queue = h.queue, handler = h.handler, kind = h.kind,
    state = lease and '1' or h.state }
end
told.tenant = told.tenant or after.tenant
told.queue, told.handler = told.queue or after.queue, told.handler or after.handler
untally(told)
unindexCold(seq, told.tenant, oldCold)
addJob(id, seq, row, '', cold)
flushJobs()
flushTallies()
return 1
`,
].join('\n')
