// Bundles: everything is looked at before the first write, for a script cannot take anything back.

import { changing, CONFLICT, MISSING } from './commit.ts'

export const EXISTS = 4

/** What an answer begins with. */
export const APPLIED = 0
export const REFUSED = 1
export const FULL = 2

/** Parts of a bundle. */
export const INSERT = 0
export const CHANGE = 1
export const REMOVE = 2
export const RECORD = 3

const looking = String.raw`
local refusals, waiting = { ${REFUSED} }, {}
local function refuse(part, index, reason)
  insert(refusals, part)
  insert(refusals, index)
  insert(refusals, reason)
end

-- How many more wait in a queue in the end.
local function count(h, lease, n)
  if lease or h.state ~= '0' then return end
  waiting[h.queue] = (waiting[h.queue] or 0) + n
end

local function takeRemoval(i)
  local id, expected = take(), take()
  local seq = call('HGET', P .. 'ids', id)
  if not seq then return refuse(${REMOVE}, i, ${MISSING}) end
  local h, lease = head(call('HGET', P .. 'jobs', seq)), call('HGET', P .. 'leases', seq)
  local version = lease and leaseOf(lease).version or h.version
  if version ~= expected then return refuse(${REMOVE}, i, ${CONFLICT}) end
  count(h, lease, -1)
  return { seq = seq, h = h, lease = lease }
end

-- New jobs by queue, to know which of them a full one would take.
local born = {}
local function bear(row)
  local h = head(row)
  count(h, nil, 1)
  if h.state == '0' then born[h.queue] = true end
end

local function takeMet(i, now)
  local change = takeChange()
  local met, refusal = meet(change, now)
  if not met then return change, refuse(${CHANGE}, i, refusal) end
  count(met.h, met.lease, -1)
  count(head(change.front .. met.h.specAt .. change.back), nil, 1)
  for _, made in ipairs(change.inserts) do
    if call('HEXISTS', P .. 'ids', made[1]) == 0 then bear(made[2]) end
  end
  return change, met
end

local function takeInsert(i)
  local made = { take(), take(), take(), take() }
  if call('HEXISTS', P .. 'ids', made[1]) == 1 then return refuse(${INSERT}, i, ${EXISTS}) end
  bear(made[2])
  return made
end

local function fullQueues(waitingMax)
  local full = { ${FULL} }
  if not waitingMax then return full end
  for queue in pairs(born) do
    if waitingOf(queue) + (waiting[queue] or 0) > waitingMax then insert(full, queue) end
  end
  return full
end
`

const body = String.raw`
local sender, now = take(), takeNumber()
local waitingMax = takeNumber()
local writes = takeRecords()
local removes, changes, mets, inserts = {}, {}, {}, {}
for i = 1, takeNumber() do removes[i] = takeRemoval(i) end
for i = 1, takeNumber() do changes[i], mets[i] = takeMet(i, now) end
for i = 1, takeNumber() do inserts[i] = takeInsert(i) end
if not recordsFit(writes, now) then refuse(${RECORD}, 0, ${CONFLICT}) end
if #refusals > 1 then return refusals end
local full = fullQueues(waitingMax)
if #full > 1 then return full end
for _, going in ipairs(removes) do
  removeJob(going.seq, going.h, call('HGET', P .. 'specs', going.seq), going.lease)
end
for i, change in ipairs(changes) do writeChange(change, mets[i], now) end
for _, made in ipairs(inserts) do
  addJob(made[1], pad(call('INCR', P .. 'seq')), made[2], made[3], made[4])
end
flushJobs()
flushTallies()
putRecords(writes, now)
wake(sender)
return { ${APPLIED} }
`

/** Answers with what became of it: parts, places and reasons of what was refused, or full queues. */
export const applyScript = [...changing, looking, body].join('\n')
