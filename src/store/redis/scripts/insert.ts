// New jobs, idempotent by id, and the records written with them.

import { base } from './base.ts'
import { jobs } from './jobs.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { records } from './records.ts'
import { tallies } from './tallies.ts'

/** Answers with the number of each job, or why it has none. */
export const EXISTS = 0
export const FULL = -1
export const CONFLICT = -2

const body = String.raw`
local sender, now = take(), takeNumber()
local waitingMax = takeNumber()
local writes = takeRecords()
local count = takeNumber()
local first = at
local results = {}
if not recordsFit(writes, now) then
  for i = 1, count do results[i] = ${CONFLICT} end
  return results
end
local ids = {}
for i = 1, count do ids[i] = ARGV[first + 4 * i - 3] end
local held, made = fetch('HMGET', P .. 'ids', ids), {}
local number = call('INCRBY', P .. 'seq', count) - count
local isAny = false
for i = 1, count do
  local n = first + 4 * i - 3
  local id, row = ids[i], ARGV[n + 1]
  if held[i] or made[id] then
    results[i] = ${EXISTS}
  elseif isFull(row, waitingMax) then
    results[i] = ${FULL}
  else
    made[id] = true
    isAny = true
    addJob(id, pad(number + i), row, ARGV[n + 2], ARGV[n + 3])
    results[i] = number + i
  end
end
flushJobs()
flushTallies()
if isAny then putRecords(writes, now) end
wake(sender)
return results
`

export const insertScript = [base, places, listed, tallies, jobs, records, body].join('\n')
