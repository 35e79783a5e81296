-- What a claim may give to tenants and lanes: limits people set, shares, and what was used of them.

-- @include constants
-- @include due

-- As core/lane reads a rule: what is no number counts as not given.
local function limitsOf(lane)
  if not claim.hasLimits then return nil end
  local record = decodeRecord(call('HGET', key('records:' .. LANE_KIND), lane))
  if not record or (record.expire and record.expire <= claim.now) then return nil end
  local fields, limits = fieldsOf(record), {}
  for _, name in ipairs({ 'weight', 'runningMax', 'count', 'perMs' }) do
    if type(fields[name]) == 'number' then limits[name] = fields[name] end
  end
  -- A rate needs both.
  if not limits.perMs then limits.count = nil end
  return limits
end

local function runningKey(lane) return 'lanes:running:' .. lane end
local function rateKey(lane) return 'lanes:rate:' .. lane end

-- Jobs no longer held under the lease they were claimed with are forgotten.
local function runningIn(lane)
  local name, n = key(runningKey(lane)), 0
  local held = call('HGETALL', name)
  for i = 1, #held, 2 do
    local lease = storedLease(held[i])
    if lease and lease.token == held[i + 1] then n = n + 1 else call('HDEL', name, held[i]) end
  end
  return n
end

local function roomOf(lane)
  local limits = limitsOf(lane)
  local room = { lane = lane, weight = 1, left = math.huge }
  if not limits then return room end
  room.weight = limits.weight or 1
  if limits.runningMax then room.left = max(0, limits.runningMax - runningIn(lane)) end
  if limits.count then
    local fullAt = tonumber(call('GET', key(rateKey(lane)))) or 0
    local spent = ceil((fullAt - claim.now) * limits.count / limits.perMs - 0.001)
    room.left = min(room.left, max(0, limits.count - max(0, spent)))
  end
  return room
end

local function tenantRoom(tenant)
  local room = roomOf(tenant)
  if claim.share then
    room.left = min(room.left, max(0, claim.share - (claim.heldBy[tenant] or 0)))
  end
  return room
end

-- The limits under the name of the tenant hold for all its lanes together.
local function laneRoom(lane)
  if tenantOf(lane) == lane then return { lane = lane, weight = 1, left = math.huge } end
  return roomOf(lane)
end

local function spendIn(name, jobs)
  local limits = limitsOf(name)
  if not limits then return end
  if limits.count then
    local fullAt = max(tonumber(call('GET', key(rateKey(name)))) or 0, claim.now)
      + #jobs * limits.perMs / limits.count
    call('SET', key(rateKey(name)), string.format('%.17g', fullAt), 'PX', LANE_USE_KEPT_MS)
  end
  if limits.runningMax then
    for _, job in ipairs(jobs) do call('HSET', key(runningKey(name)), job.seq, claim.token) end
    call('PEXPIRE', key(runningKey(name)), LANE_USE_KEPT_MS)
  end
end

-- Under the name of the lane, and under that of its tenant.
local function spend(jobs)
  if not claim.hasLimits then return end
  local byName = {}
  for _, job in ipairs(jobs) do
    local lane = job.stream.lane
    push(byName, lane, job)
    if tenantOf(lane) ~= lane then push(byName, tenantOf(lane), job) end
  end
  for name, list in pairs(byName) do spendIn(name, list) end
end
