-- A job coming and going, with everything that belongs to it.

-- @include attempts
-- @include constants
-- @include counts
-- @include leases
-- @include places
-- @include status

local function indexOwners(seq, h)
  zadd('jobs:by-tenant:' .. h.tenant, seq, seq)
  if h.series then zadd('jobs:by-series:' .. h.series, seq, seq) end
  if h.app then zadd('jobs:by-app:' .. h.app, seq, seq) end
end

local function unindexOwners(seq, h)
  zrem('jobs:by-tenant:' .. h.tenant, seq)
  if h.series then zrem('jobs:by-series:' .. h.series, seq) end
  if h.app then zrem('jobs:by-app:' .. h.app, seq) end
end

local seenRoutes = {}
local function addRoute(route)
  if seenRoutes[route] then return end
  seenRoutes[route] = true
  call('SADD', key('routes'), route)
end

local function takeJob() return { row = take(), definition = take(), lease = take() } end

local function addJob(seq, made, h, now)
  hset('ids', h.id, seq)
  hset('jobs', seq, made.row)
  hset('definitions', seq, made.definition)
  zadd('jobs:all', seq, seq)
  indexOwners(seq, h)
  enlist(seq, h)
  addRoute(h.route)
  if made.lease ~= '' then
    local lease = decodeLease(made.lease)
    hset('leases', seq, made.lease)
    beginLeases(lease.token, lease.expire, { seq })
  else
    place(seq, h, now)
  end
  if h.expire then zadd(endedKey(h.kind, h.queue), h.expire, seq) end
  count(h, h.state, 1)
end

local function exists(id) return call('HEXISTS', key('ids'), id) == 1 end

local function isFull(h, waitingMax)
  return waitingMax and h.state == 0 and waitingIn(h.queue) >= waitingMax
end

local function flush()
  flushPlaces()
  flushStatus()
  flushWrites()
end

local function removeJob(seq, h, lease)
  hdel('ids', h.id)
  if lease then endLeases(lease.token, 1) else unplace(seq, h) end
  zrem('jobs:all', seq)
  unindexOwners(seq, h)
  delist(seq, h)
  for _, name in ipairs({ 'jobs', 'definitions', 'leases', 'progress' }) do hdel(name, seq) end
  count(h, lease and RUNNING or h.state, -1)
  local low, high = numbersOf(seq, h, lease)
  local left = clearHistory(seq, low, high, HISTORY_BATCH)
  if left then call('HSET', key('removed-history'), seq, int(left) .. ':' .. int(high)) end
end
