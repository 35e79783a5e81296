-- Due and waiting → running: tenants and their lanes take turns, what was taken is leased.

-- @include turns
-- @include counts
-- @include leases

local function takeClaim()
  claim.queue, claim.now = take(), takeNumber()
  if take() == 'server' then claim.now = min(claim.now, serverNow()) end
  claim.limit, claim.leaseMs, claim.token, claim.owner = takeNumber(), takeNumber(), take(), take()
  claim.handlers, claim.spans, claim.heldBy = {}, {}, {}
  for i = 1, takeNumber() do claim.handlers[i] = take() end
  claim.hasLimits, claim.scope, claim.isScoped = takeFlag(), take(), takeFlag()
  claim.tenant = take()
  for i = 1, takeNumber() do claim.spans[i] = { from = take(), till = take() } end
  claim.share = takeNumber()
  for _ = 1, takeNumber() do
    local tenant = take()
    claim.heldBy[tenant] = takeNumber()
  end
  claim.isPlain = not (claim.hasLimits or claim.isScoped or claim.share)
  claim.attemptIds = takeRest()
end

-- Claims of one scope have a turn of their own; those of nodes have the one of the queue.
local function serveScope()
  local name = claim.queue .. '\n' .. claim.scope
  local turn, served = storedTurn(name), nil
  if claim.tenant ~= '' then
    local room = tenantRoom(claim.tenant)
    served = serveRing(lanesRing(claim.spans), turn, min(claim.limit, room.left))
  else
    served = serveTenants(turn, claim.limit)
  end
  if served.isMoved then keepTurn(name, served.lane, served.count) end
  return served.taken
end

local function serveQueue()
  claim.isAllTaken = claim.isPlain and isAllTaken()
  local turn = { lane = tenantOf(call('HGET', key('queues:turn'), claim.queue) or ''), taken = 1 }
  if not claim.isPlain then
    turn.taken = tonumber(call('HGET', key('queues:turn-taken'), claim.queue)) or 0
  end
  local served = serveTenants(turn, claim.limit)
  if served.isMoved and not claim.isAllTaken then
    call('HSET', key('queues:turn'), claim.queue, served.lane)
    if claim.hasLimits then call('HSET', key('queues:turn-taken'), claim.queue, served.count) end
  end
  return served.taken
end

local function readRows(jobs)
  local unread = {}
  for _, job in ipairs(jobs) do
    if not claim.rows[job.seq] then unread[#unread + 1] = job.seq end
  end
  for i, text in ipairs(fetch('HMGET', 'jobs', unread)) do rowOf(unread[i], text) end
end

-- Answers with the time, then number, row and definition of each; no row where it is damaged.
local function lease(jobs)
  local expire = claim.now + claim.leaseMs
  local reply, seqs = { int(claim.now) }, {}
  local encode = leaseEncoder({
    token = claim.token, owner = claim.owner, claimedAt = claim.now, expire = expire,
  })
  readRows(jobs)
  for _, job in ipairs(jobs) do
    local row = claim.rows[job.seq]
    if row then
      local h = row.h
      seqs[#seqs + 1] = job.seq
      hset('leases', job.seq, encode(h.version + 1, claim.attemptIds[#seqs]))
      count(h, WAITING, -1)
      count(h, RUNNING, 1)
    end
  end
  if #seqs > 0 then beginLeases(claim.token, expire, seqs) end
  flushWrites()
  flushCounts()
  for i, definition in ipairs(fetch('HMGET', 'definitions', seqs)) do
    reply[3 * i - 1] = seqs[i]
    reply[3 * i] = claim.rows[seqs[i]].text
    reply[3 * i + 1] = definition or ''
  end
  for _, seq in ipairs(claim.damaged) do
    for _, word in ipairs({ seq, '', '' }) do reply[#reply + 1] = word end
  end
  return reply
end

local function claimJobs()
  takeClaim()
  if call('SISMEMBER', key('queues:paused'), claim.queue) == 1 then return {} end
  for _, handler in ipairs(claim.handlers) do addRouteOf(handler) end
  if #claim.routes == 0 then return {} end
  makeDueReady()
  readRings()
  local jobs = claim.isScoped and serveScope() or serveQueue()
  leaveLanes(jobs)
  spend(jobs)
  return #jobs + #claim.damaged > 0 and lease(jobs) or {}
end
