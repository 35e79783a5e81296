// How many jobs there are of each line, kind and state, altogether and by tenant: summed while the
// script goes on and written once at its end.

export const tallies = String.raw`
local sums, tenantSums, waitingSums = {}, {}, {}

local function tally(tenant, line, queue, kind, state, n)
  local field = line .. Z .. kind .. Z .. state
  sums[field] = (sums[field] or 0) + n
  local own = tenantSums[tenant]
  if not own then
    own = {}
    tenantSums[tenant] = own
  end
  own[field] = (own[field] or 0) + n
  if state == '0' then waitingSums[queue] = (waitingSums[queue] or 0) + n end
end

local function tallyHead(h, state, n)
  tally(h.tenant, h.queue .. Z .. h.handler, h.queue, h.kind, state, n)
end

-- Waiting jobs of the queue, with what this script did so far.
local function waitingOf(queue)
  local held = tonumber(call('HGET', P .. 'waiting', queue) or 0) or 0
  return held + (waitingSums[queue] or 0)
end

local function bump(key, field, n)
  local sum = redis.pcall('HINCRBY', key, field, n)
  -- Overwritten with something that is no number: counting begins anew, doctor counts again.
  if type(sum) == 'table' then
    call('HSET', key, field, max(n, 0))
    sum = max(n, 0)
  end
  if sum == 0 then call('HDEL', key, field) end
  return sum
end

local function flushTallies()
  for field, n in pairs(sums) do
    if n ~= 0 then bump(P .. 'tallies', field, n) end
  end
  for queue, n in pairs(waitingSums) do
    if n ~= 0 then bump(P .. 'waiting', queue, n) end
  end
  for tenant, own in pairs(tenantSums) do
    local key, fell = P .. 'tt:' .. tenant, false
    for field, n in pairs(own) do
      if n > 0 and bump(key, field, n) == n then call('ZADD', P .. 'tenants', 0, tenant) end
    end
    for field, n in pairs(own) do
      if n < 0 and bump(key, field, n) == 0 then fell = true end
    end
    if fell and call('EXISTS', key) == 0 then call('ZREM', P .. 'tenants', tenant) end
  end
  sums, tenantSums, waitingSums = {}, {}, {}
end
`
