-- How many jobs there are by route, kind and state, altogether and by tenant: summed while a script
-- goes on and written once at its end.

-- @include base

-- By tenant, route, and a number for kind and state; and of those that wait by queue.
local changes, waitingChanges = {}, {}
local STATES = 10

local function countField(route, kind, state) return route .. NUL .. kind .. NUL .. state end

local function count(h, state, n)
  local own, code = tableIn(tableIn(changes, h.tenant), h.route), h.kind * STATES + state
  own[code] = (own[code] or 0) + n
  if state == 0 then waitingChanges[h.queue] = (waitingChanges[h.queue] or 0) + n end
end

-- Waiting jobs of the queue, with what this script did so far.
local function waitingIn(queue)
  local stored = tonumber(call('HGET', key('counts:waiting'), queue)) or 0
  return stored + (waitingChanges[queue] or 0)
end

local function bump(name, field, n)
  if n == 0 then return nil end
  local sum = redis.pcall('HINCRBY', key(name), field, n)
  -- Overwritten with something that is no number: counting begins anew, doctor counts again.
  if type(sum) == 'table' then
    call('HSET', key(name), field, max(n, 0))
    sum = max(n, 0)
  end
  if sum == 0 then call('HDEL', key(name), field) end
  return sum
end

local function flushTenant(tenant, routes, sums)
  local name, isNew, hasFallen = 'counts:by-tenant:' .. tenant, false, false
  for route, own in pairs(routes) do
    for code, n in pairs(own) do
      local field = countField(route, floor(code / STATES), code % STATES)
      local sum = bump(name, field, n)
      isNew, hasFallen = isNew or sum == n, hasFallen or sum == 0
      sums[field] = (sums[field] or 0) + n
    end
  end
  local exists = not hasFallen or call('EXISTS', key(name)) == 1
  if isNew and exists then call('ZADD', key('tenants'), 0, tenant) end
  if not exists then call('ZREM', key('tenants'), tenant) end
end

local function flushCounts()
  local sums = {}
  for tenant, routes in pairs(changes) do flushTenant(tenant, routes, sums) end
  for field, n in pairs(sums) do bump('counts', field, n) end
  for queue, n in pairs(waitingChanges) do bump('counts:waiting', queue, n) end
  changes, waitingChanges = {}, {}
end
