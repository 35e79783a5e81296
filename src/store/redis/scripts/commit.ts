// Changes: those the client prepared as commands together, then those of every other kind one after
// another. Each is checked as a whole before its first write.

import { base } from './base.ts'
import { history } from './history.ts'
import { jobs } from './jobs.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { records } from './records.ts'
import { settling } from './settle.ts'
import { tallies } from './tallies.ts'

export const COMMITTED = 0
export const CONFLICT = 1
export const MISSING = 2
export const FULL = 3

const taking = String.raw`
local function takeChange()
  local change = {
    id = take(), expected = take(), token = take(), front = take(), back = take(),
    version = take(), lease = take(), cold = take(), clears = take() == '1',
    drop = take(), dropBefore = takeNumber(),
    attempts = {}, skips = {}, inserts = {},
  }
  for i = 1, takeNumber() do change.attempts[i] = { take(), take(), take(), take() } end
  for i = 1, takeNumber() do change.skips[i] = { take(), take(), take() } end
  for i = 1, takeNumber() do change.inserts[i] = { take(), take(), take(), take() } end
  change.records = takeRecords()
  return change
end
`

const writing = String.raw`
local function writeJob(change, seq, h, lease)
  local old = lease and '1' or h.state
  if not lease then unplace(seq, h) end
  local row = change.front .. (change.cold ~= '' and change.version or h.specAt) .. change.back
  local after = head(row)
  if change.cold ~= '' then
    unindexCold(seq, h.tenant, call('HGET', P .. 'specs', seq))
    indexCold(seq, after.tenant, change.cold)
    set('specs', seq, change.cold)
    seeLine(after.queue .. Z .. after.handler)
  end
  set('jobs', seq, row)
  relist(seq, h, lease, after, change.lease ~= '')
  if change.lease ~= '' then
    local kept = leaseOf(change.lease)
    set('leases', seq, change.lease)
    if lease and lease.token == kept.token then
      call('ZADD', P .. 'claims', 'LT', kept.till, kept.token)
    else
      beginLease(kept.token, kept.till, { seq })
      if lease then endLease(lease.token, 1) end
    end
  else
    if lease then
      call('HDEL', P .. 'leases', seq)
      endLease(lease.token, 1)
    end
    place(seq, after)
  end
  tallyHead(h, old, -1)
  tallyHead(after, after.state, 1)
  return after
end

-- What is there of the job: its number, row and lease, or why the change cannot be written to it.
local function meet(change, now)
  local seq = call('HGET', P .. 'ids', change.id)
  if not seq then return nil, ${MISSING} end
  local h = head(call('HGET', P .. 'jobs', seq))
  local held = call('HGET', P .. 'leases', seq)
  local lease = held and leaseOf(held)
  local version = lease and lease.version or h.version
  local token = lease and '=' .. lease.token or '-'
  if version ~= change.expected or token ~= change.token then return nil, ${CONFLICT} end
  if not recordsFit(change.records, now) then return nil, ${CONFLICT} end
  return { seq = seq, h = h, lease = lease }
end

local function writeChange(change, met, now)
  local seq = met.seq
  local after = writeJob(change, seq, met.h, met.lease)
  for _, made in ipairs(change.inserts) do
    if call('HEXISTS', P .. 'ids', made[1]) == 0 then
      addJob(made[1], pad(call('INCR', P .. 'seq')), made[2], made[3], made[4])
      flushJobs()
    end
  end
  for _, attempt in ipairs(change.attempts) do
    addAttempt(seq, after.attempts, attempt[1], attempt[2], attempt[3], attempt[4])
  end
  if change.drop ~= '' then dropAttempt(seq, change.drop, change.dropBefore) end
  for _, skip in ipairs(change.skips) do addSkip(seq, skip[1], skip[2], skip[3]) end
  putRecords(change.records, now)
  if change.clears then call('HDEL', P .. 'progress', seq) end
  flushJobs()
end

local function commit(change, now, waitingMax)
  local met, refusal = meet(change, now)
  if not met then return refusal end
  for _, made in ipairs(change.inserts) do
    if isFull(made[2], waitingMax) and call('HEXISTS', P .. 'ids', made[1]) == 0 then
      return ${FULL}
    end
  end
  writeChange(change, met, now)
  return ${COMMITTED}
end
`

const body = String.raw`
local sender, now = take(), takeNumber()
local waitingMax = takeNumber()
local results = { settle() and 1 or 0 }
for i = 1, takeNumber() do results[i + 1] = commit(takeChange(), now, waitingMax) end
-- Of the changes that were settled as prepared.
local puts = takeRecords()
if results[1] == 1 then putRecords(puts, now) end
flushTallies()
wake(sender)
return results
`

/** What a script that writes changes is made of. */
export const changing = [base, places, listed, tallies, jobs, records, history, taking, writing]

/** Answers whether the prepared commands were carried out, then for each of the other changes. */
export const commitScript = [...changing, settling, body].join('\n')
