-- Jobs whose row or definition does not decode: every index they may be in is searched. What is left
-- in those of a series or a program is passed over by readers.

-- @include jobs

local STATE_OF_STATUS = { paused = 2, completed = 3, failed = 4, cancelled = 5 }

-- Out of the lists and places of a route; tells what they said of the job.
local function searchRoute(seq, route, found)
  local queue, handler = match(route, '^([^%z]*)%z(.*)$')
  local isPlaced = call('ZREM', key(timedKey(route)), seq) == 1
  for _, lane in ipairs(call('ZRANGE', key(ringKey(route)), 0, -1)) do
    if call('ZREM', key(laneKey(route, lane)), seq) == 1 then
      isPlaced = true
      leaveLane(route, lane)
    end
  end
  if isPlaced then
    found.queue, found.handler = queue, handler
    if found.kind == 1 then found.state = WAITING end
  end
  for kind = 0, 1 do call('ZREM', key(endedKey(kind, queue)), seq) end
end

-- Removes the job from every index it may be in; answers with what they said of it.
local function removeEverywhere(seq)
  local found = { kind = 1, state = 3 }
  for _, status in ipairs(STATUSES) do
    if call('ZREM', key(statusKey(status)), seq) == 1 then
      found.kind, found.state = 0, STATE_OF_STATUS[status] or WAITING
    end
  end
  for _, tenant in ipairs(call('ZRANGE', key('tenants'), 0, -1)) do
    if call('ZREM', key('jobs:by-tenant:' .. tenant), seq) == 1 then found.tenant = tenant end
    for _, status in ipairs(STATUSES) do call('ZREM', key(tenantStatusKey(status, tenant)), seq) end
  end
  for _, route in ipairs(call('SMEMBERS', key('routes'))) do searchRoute(seq, route, found) end
  call('ZREM', key('pauses:by-end'), seq)
  call('ZREM', key('jobs:all'), seq)
  local lease = storedLease(seq)
  if lease then
    call('HDEL', key('leases'), seq)
    found.state = RUNNING
    endLeases(lease.token, 1)
  end
  return found
end

-- One job less, as far as it is known where it was counted.
local function uncount(found)
  if not (found.tenant and found.queue and found.handler) then return end
  found.route = found.queue .. NUL .. found.handler
  count(found, found.state, -1)
end

local function removeDamaged(seq, id)
  local found = removeEverywhere(seq)
  uncount(found)
  call('HDEL', key('ids'), id)
  for _, name in ipairs({ 'jobs', 'definitions', 'progress' }) do call('HDEL', key(name), seq) end
  local last = tonumber(call('HGET', key('attempts:last'), seq)) or 0
  if last > 0 then call('HSET', key('removed-history'), seq, '1:' .. last) end
end
