-- A job coming and going, with everything that belongs to it.

-- @include attempts
-- @include constants
-- @include counts
-- @include leases
-- @include places
-- @include status

local function indexDefinition(seq, tenant, definition)
  zadd('jobs:by-tenant:' .. tenant, seq, seq)
  if definition.series then zadd('jobs:by-series:' .. definition.series, seq, seq) end
  if definition.app then zadd('jobs:by-app:' .. definition.app, seq, seq) end
end

local function unindexDefinition(seq, tenant, definition)
  zrem('jobs:by-tenant:' .. tenant, seq)
  if not definition then return end
  if definition.series then zrem('jobs:by-series:' .. definition.series, seq) end
  if definition.app then zrem('jobs:by-app:' .. definition.app, seq) end
end

local seenRoutes = {}
local function addRoute(route)
  if seenRoutes[route] then return end
  seenRoutes[route] = true
  call('SADD', key('routes'), route)
end

-- The id is known at once, everything else when writes are flushed.
local function addJob(seq, made, h, now)
  local definition = decodeDefinition(made.definition)
  call('HSET', key('ids'), definition.id, seq)
  hset('jobs', seq, made.row)
  hset('definitions', seq, made.definition)
  zadd('jobs:all', seq, seq)
  indexDefinition(seq, h.tenant, definition)
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

local function takeJob() return { id = take(), row = take(), definition = take(), lease = take() } end

local function exists(id) return call('HEXISTS', key('ids'), id) == 1 end

local function isFull(h, waitingMax)
  return waitingMax and h.state == 0 and waitingIn(h.queue) >= waitingMax
end

local function flush()
  flushPlaces()
  flushWrites()
end

local function removeJob(seq, h, lease, definition)
  if definition then call('HDEL', key('ids'), definition.id) end
  if lease then endLeases(lease.token, 1) else unplace(seq, h) end
  zrem('jobs:all', seq)
  unindexDefinition(seq, h.tenant, definition)
  delist(seq, h)
  for _, name in ipairs({ 'jobs', 'definitions', 'leases', 'progress' }) do hdel(name, seq) end
  count(h, lease and RUNNING or h.state, -1)
  local low, high = numbersOf(seq, h, lease)
  local left = clearHistory(seq, low, high, HISTORY_BATCH)
  if left then call('HSET', key('removed-history'), seq, int(left) .. ':' .. int(high)) end
end
