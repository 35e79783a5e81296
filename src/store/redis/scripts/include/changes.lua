-- Changes of jobs. Each is checked before its first write, and the writes of all are gathered.

-- @include jobs
-- @include records

local OK, CONFLICT, MISSING, FULL = 0, 1, 2, 3

-- What few changes have is behind a flag.
local function takeRest(change)
  change.definition, change.lease, change.clearsProgress = take(), take(), takeFlag()
  change.drop, change.dropBefore = takeNumber(), takeNumber()
  change.skips, change.inserts = {}, {}
  for i = 1, takeNumber() do change.skips[i] = { take(), take(), take() } end
  for i = 1, takeNumber() do change.inserts[i] = takeJob() end
  change.records = takeRecords()
end

local NOTHING = {}

local function takeChange()
  local change = {
    id = take(), version = takeNumber(), token = take(), row = take(), attempt = take(),
    definition = '', lease = '', skips = NOTHING, inserts = NOTHING, records = NOTHING,
  }
  if takeFlag() then takeRest(change) end
  return change
end

local function takeChanges()
  local changes, ids = {}, {}
  for i = 1, takeNumber() do
    changes[i] = takeChange()
    ids[i] = changes[i].id
  end
  local seqs, held = fetch('HMGET', 'ids', ids), {}
  for i, change in ipairs(changes) do
    change.seq = seqs[i]
    if seqs[i] then held[#held + 1] = seqs[i] end
  end
  local leases, n = fetch('HMGET', 'leases', held), 0
  for _, change in ipairs(changes) do
    if change.seq then
      n = n + 1
      change.held = decodeLease(leases[n])
    end
  end
  return changes
end

local function readBefore(change)
  change.before = change.before or storedRow(change.seq)
  return change.before
end

-- Why the change cannot be written, if it cannot.
local function refusalOf(change, now)
  if not change.seq then return MISSING end
  local held = change.held
  local version = held and held.version or readBefore(change).version
  local token = held and '=' .. held.token or '-'
  if version ~= change.version or token ~= change.token then return CONFLICT end
  if not recordsFit(change.records, now) then return CONFLICT end
  return nil
end

local function fullQueueOf(change, waitingMax)
  for _, made in ipairs(change.inserts) do
    local h = decodeRow(made.row)
    if isFull(h, waitingMax) and not exists(h.id) then return h.queue end
  end
end

-- The usual end of a run does not read the row from before: nothing it says is needed.
local function writeRow(change, after, now)
  local seq, held = change.seq, change.held
  local before = (not held or change.definition ~= '') and readBefore(change) or after
  if not held then unplace(seq, before) end
  if before.expire and not after.expire then indexExpiries(seq, before) end
  if change.definition ~= '' then
    unindexOwners(seq, before)
    indexOwners(seq, after)
    hset('definitions', seq, change.definition)
    addRoute(after.route)
  end
  hset('jobs', seq, change.row)
  if before == after then
    relistRunning(seq, after)
  else
    delist(seq, before)
    enlist(seq, after)
  end
  count(before, held and RUNNING or before.state, -1)
  count(after, after.state, 1)
end

-- What the changes of this script wrote, and the ids of jobs they inserted.
local ended, closing, changed, isBorn = {}, {}, {}, {}

local function writeLease(change, after, now)
  local seq, held = change.seq, change.held
  if change.lease == '' then
    if held then
      hdel('leases', seq)
      closing[held.token] = (closing[held.token] or 0) + 1
    end
    return place(seq, after, now)
  end
  local lease = decodeLease(change.lease)
  hset('leases', seq, change.lease)
  if held and held.token == lease.token then
    call('ZADD', key('claims:by-end'), 'LT', lease.expire, lease.token)
  else
    beginLeases(lease.token, lease.expire, { seq })
    if held then endLeases(held.token, 1) end
  end
end

local function writeChange(change, now)
  local seq, after = change.seq, decodeRow(change.row)
  changed[seq] = true
  writeRow(change, after, now)
  writeLease(change, after, now)
  if after.expire then
    push(tableIn(ended, endedKey(after.kind, after.queue)), after.expire, seq)
  end
  for _, made in ipairs(change.inserts) do
    local h = decodeRow(made.row)
    if not isBorn[h.id] and not exists(h.id) then
      isBorn[h.id] = true
      addJob(nextSequence(), made, h, now)
    end
  end
  if change.attempt ~= '' then
    local attempt = decodeAttempt(change.attempt)
    addAttempt(seq, after, attempt, change.attempt)
  end
  if change.drop then dropAttempt(seq, change.drop, change.dropBefore) end
  for _, skip in ipairs(change.skips) do addSkip(seq, skip[1], skip[2], skip[3]) end
  putRecords(change.records, now)
  if change.clearsProgress then hdel('progress', seq) end
end

-- Jobs that ended together are one entry; pruning takes it apart.
local function flushChanges()
  for name, seqsByExpiry in pairs(ended) do
    for expire, seqs in pairs(seqsByExpiry) do zadd(name, expire, concat(seqs, ',')) end
  end
  for token, n in pairs(closing) do endLeases(token, n) end
  ended, closing, changed, isBorn = {}, {}, {}, {}
  flush()
end

local function commitChange(change, now, waitingMax)
  -- Written by a change before this one: what was read of it is old.
  if change.seq and changed[change.seq] then
    flushChanges()
    change.held = storedLease(change.seq)
  end
  local refusal = refusalOf(change, now)
  if refusal then return refusal end
  if fullQueueOf(change, waitingMax) then return FULL end
  writeChange(change, now)
  return OK
end
