-- A bundle: everything is checked before the first write, for a script cannot take anything back.
-- Answers with what became of it: parts, positions and reasons of what was refused, or full queues.

-- @include changes

local APPLIED, REFUSED, FULL_QUEUES = 0, 1, 2
local INSERT, CHANGE, REMOVE, RECORD = 0, 1, 2, 3
local EXISTS = 4

local refusals, waiting, isBorn = { REFUSED }, {}, {}
local function refuse(part, index, reason)
  insert(refusals, part)
  insert(refusals, index)
  insert(refusals, reason)
end

-- How many more wait in a queue in the end.
local function countWaiting(h, lease, n)
  if not lease and h.state == WAITING then waiting[h.queue] = (waiting[h.queue] or 0) + n end
end

local function checkNew(h)
  countWaiting(h, nil, 1)
  if h.state == WAITING then isBorn[h.queue] = true end
end

local function takeRemoval(i)
  local id, version = take(), takeNumber()
  local seq = call('HGET', key('ids'), id)
  if not seq then return refuse(REMOVE, i, MISSING) end
  local h, lease = storedRow(seq), storedLease(seq)
  if (lease and lease.version or h.version) ~= version then return refuse(REMOVE, i, CONFLICT) end
  countWaiting(h, lease, -1)
  return { seq = seq, h = h, lease = lease }
end

local function checkChange(i, change, now)
  local refusal = refusalOf(change, now)
  if refusal then return refuse(CHANGE, i, refusal) end
  countWaiting(readBefore(change), change.held, -1)
  countWaiting(decodeRow(change.row), nil, 1)
  for _, made in ipairs(change.inserts) do
    local h = decodeRow(made.row)
    if not exists(h.id) then checkNew(h) end
  end
end

local function fullQueues(waitingMax)
  local full = { FULL_QUEUES }
  if not waitingMax then return full end
  for queue in pairs(isBorn) do
    if waitingIn(queue) + (waiting[queue] or 0) > waitingMax then insert(full, queue) end
  end
  return full
end

local sender, now, waitingMax = take(), takeNumber(), takeNumber()
local writes = takeRecords()
local removals, inserts = {}, {}
for i = 1, takeNumber() do removals[i] = takeRemoval(i) end
local changes = takeChanges()
for i, change in ipairs(changes) do checkChange(i, change, now) end
for i = 1, takeNumber() do
  inserts[i] = takeJob()
  inserts[i].head = decodeRow(inserts[i].row)
  if exists(inserts[i].head.id) then refuse(INSERT, i, EXISTS) else checkNew(inserts[i].head) end
end
if not recordsFit(writes, now) then refuse(RECORD, 0, CONFLICT) end
if #refusals > 1 then return refusals end
local full = fullQueues(waitingMax)
if #full > 1 then return full end
for _, going in ipairs(removals) do removeJob(going.seq, going.h, going.lease) end
for _, change in ipairs(changes) do writeChange(change, now) end
for _, made in ipairs(inserts) do addJob(nextSequence(), made, made.head, now) end
flushChanges()
flushCounts()
putRecords(writes, now)
wake(sender)
return { APPLIED }
