-- How many jobs there are by route, kind and state, altogether and by tenant: summed while a script
-- goes on and written once at its end.

-- @include base

local sums, tenantSums, waitingSums = {}, {}, {}

local function countField(route, kind, state) return route .. NUL .. kind .. NUL .. state end

local function count(h, state, n)
  local field = countField(h.route, h.kind, state)
  sums[field] = (sums[field] or 0) + n
  local own = tenantSums[h.tenant]
  if not own then
    own = {}
    tenantSums[h.tenant] = own
  end
  own[field] = (own[field] or 0) + n
  if state == 0 then waitingSums[h.queue] = (waitingSums[h.queue] or 0) + n end
end

-- Waiting jobs of the queue, with what this script did so far.
local function waitingIn(queue)
  local stored = tonumber(call('HGET', key('counts:waiting'), queue) or 0) or 0
  return stored + (waitingSums[queue] or 0)
end

local function bump(name, field, n)
  local sum = redis.pcall('HINCRBY', key(name), field, n)
  -- Overwritten with something that is no number: counting begins anew, doctor counts again.
  if type(sum) == 'table' then
    call('HSET', key(name), field, max(n, 0))
    sum = max(n, 0)
  end
  if sum == 0 then call('HDEL', key(name), field) end
  return sum
end

local function flushCounts()
  for field, n in pairs(sums) do
    if n ~= 0 then bump('counts', field, n) end
  end
  for queue, n in pairs(waitingSums) do
    if n ~= 0 then bump('counts:waiting', queue, n) end
  end
  for tenant, own in pairs(tenantSums) do
    local name, hasFallen = 'counts:by-tenant:' .. tenant, false
    for field, n in pairs(own) do
      if n > 0 and bump(name, field, n) == n then call('ZADD', key('tenants'), 0, tenant) end
    end
    for field, n in pairs(own) do
      if n < 0 and bump(name, field, n) == 0 then hasFallen = true end
    end
    if hasFallen and call('EXISTS', key(name)) == 0 then call('ZREM', key('tenants'), tenant) end
  end
  sums, tenantSums, waitingSums = {}, {}, {}
end
