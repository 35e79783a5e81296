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

/**
 * Most new jobs wait for a moment and belong to no series and no program; many of them differ in
 * little else than their ids. What such a row says of its place is taken apart once.
 */
const alike = String.raw`
local ROW = '^(%d+%z%d+%z0%z%d%z[^%z]*%z[^%z]*%z[^%z]*%z[^%z]*)%z([tr])%z(%-?%d+)%z(%-?%d+)'
  .. '%z%z%z%d+%z%d+%z%d+%z%d+%z%[(%d)'
local shapes = {}
local bornIds, bornRows, bornSpecs, born = {}, {}, {}, 0
local lastRow, said

local function shapeOf(row, text)
  local h = head(row)
  local line = h.queue .. Z .. h.handler
  seeLine(line)
  local shape = { h = h, line = line, seqs = {}, n = 0 }
  shapes[text] = shape
  return shape
end

-- Of one of those; false of any other.
local function saidBy(row)
  local text, place, due, rank, wait = match(row, ROW)
  if not text then return false end
  text = text .. wait
  return { shape = shapes[text] or shapeOf(row, text), isTimed = place == 't', due = due, rank = rank }
end

-- False when the job is not one of those.
local function addAlike(id, seq, row, cold)
  if row ~= lastRow then lastRow, said = row, saidBy(row) end
  if not said or not find(cold, '\0-\0-\0', 1, true) then return false end
  local shape = said.shape
  if said.isTimed then push(timed, shape.line, said.due, seq)
  else makeReady(shape.line, shape.h.lane, tonumber(said.due), said.rank, seq) end
  local n, at = shape.n, born
  shape.seqs[2 * n + 1], shape.seqs[2 * n + 2], shape.n = seq, seq, n + 1
  bornIds[at + 1], bornIds[at + 2] = id, seq
  bornRows[at + 1], bornRows[at + 2] = seq, row
  bornSpecs[at + 1], bornSpecs[at + 2] = seq, cold
  born = at + 2
  return true
end

local function flushAlike()
  batch('HSET', P .. 'ids', bornIds)
  batch('HSET', P .. 'jobs', bornRows)
  batch('HSET', P .. 'specs', bornSpecs)
  for _, shape in pairs(shapes) do
    local h = shape.h
    batch('ZADD', P .. 'all', shape.seqs)
    batch('ZADD', P .. 'tj:' .. h.tenant, shape.seqs)
    if h.kind == '0' then
      local all, own = markNames(h.tenant, markOf(h, false))
      batch('ZADD', P .. all, shape.seqs)
      batch('ZADD', P .. own, shape.seqs)
    end
    tallyHead(h, '0', shape.n)
  end
end
`

const body = String.raw`
local sender, now = take(), takeNumber()
local waitingMax = takeNumber()
local writes = takeRecords()
local count = takeNumber()
local first = at
at = first + 3 * count
local leases, results = {}, {}
for _ = 1, takeNumber() do leases[takeNumber()] = take() end
if not recordsFit(writes, now) then
  for i = 1, count do results[i] = ${CONFLICT} end
  return results
end
local ids = {}
for i = 1, count do ids[i] = ARGV[first + 3 * i - 2] end
local held, made = fetch('HMGET', P .. 'ids', ids), {}
local number = call('INCRBY', P .. 'seq', count) - count
local isAny, row = false, ''
for i = 1, count do
  local n = first + 3 * i - 2
  local id, cold = ids[i], ARGV[n + 2]
  -- An empty row is the one before it.
  if ARGV[n + 1] ~= '' then row = ARGV[n + 1] end
  if held[i] or made[id] then
    results[i] = ${EXISTS}
  elseif isFull(row, waitingMax) then
    results[i] = ${FULL}
  else
    made[id] = true
    isAny = true
    local seq = pad(number + i)
    -- With a limit, what was added so far must be counted at once.
    if waitingMax or not addAlike(id, seq, row, cold) then
      addJob(id, seq, row, leases[i] or '', cold)
    end
    results[i] = number + i
  end
end
flushAlike()
flushJobs()
flushTallies()
if isAny then putRecords(writes, now) end
wake(sender)
return results
`

/** What the body stands on, and the body, which returns the answer. */
export const insertParts = { below: [base, places, listed, tallies, jobs, records, alike], body }

export const insertScript = [...insertParts.below, body].join('\n')
