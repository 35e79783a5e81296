-- Turns with weights and limits, as core/turns has them: of tenants, and of the lanes of each.

-- @include limits
-- @include records

local function storedTurn(name)
  local record = decodeRecord(call('HGET', key(recordsKey(TURN_KIND)), name))
  if record and not (record.expire and record.expire <= claim.now) then
    local fields = fieldsOf(record)
    local isSound = type(fields.lane) == 'string' and type(fields.taken) == 'number'
    if isSound then return { lane = fields.lane, taken = fields.taken } end
  end
  return { lane = '', taken = 0 }
end

local function keepTurn(name, lane, taken)
  local value = cjson.encode({ lane = lane, taken = taken })
  local expire = int(claim.now + TURN_KEPT_MS)
  putRecord({ kind = TURN_KIND, key = name, expire = expire, value = value }, claim.now)
end

-- One pass around the ring from the turn on. Answers with the rooms it met, and the lane where it
-- gave up because too many in a row could be given nothing.
local function goAround(ring, turn, serve, isFull)
  local rooms, idle = {}, 0
  local function visit(lane, before)
    local room = ring.room(lane)
    rooms[#rooms + 1] = room
    idle = serve(room, room.weight - before, before) > 0 and 0 or idle + 1
  end
  local isGoing = turn.taken > 0 and ring.next(turn.lane, false) == turn.lane
    and ring.room(turn.lane).weight > turn.taken
  if isGoing then visit(turn.lane, turn.taken) end
  local lane = ring.next(turn.lane, true)
  local isWrapped = not lane
  if isWrapped then lane = ring.next('', false) end
  while lane and not isFull() do
    if isWrapped and (isBefore(turn.lane, lane) or (isGoing and lane == turn.lane)) then break end
    visit(lane, 0)
    if idle >= IDLE_LANES_MAX then return rooms, lane end
    lane = ring.next(lane, true)
    if not lane and not isWrapped then
      isWrapped = true
      lane = ring.next('', false)
    end
  end
  return rooms
end

-- Who is served, with the turn behind each of them.
local function serveRing(ring, turn, limit)
  local taken, lanes, counts = {}, {}, {}
  local served = {
    taken = taken, lanes = lanes, counts = counts,
    lane = turn.lane, count = turn.taken, isMoved = false,
  }
  local function serve(room, quota, before)
    local wanted = min(quota, room.left, limit - #taken)
    if wanted <= 0 then return 0 end
    local jobs = ring.give(room.lane, wanted)
    for i, job in ipairs(jobs) do
      local n = #taken + 1
      taken[n], lanes[n], counts[n] = job, room.lane, before + i
    end
    room.left = #jobs < wanted and 0 or room.left - #jobs
    if #jobs > 0 then
      served.lane, served.count, served.isMoved = room.lane, before + #jobs, true
    end
    return #jobs
  end
  local rooms, passed = goAround(ring, turn, serve, function() return #taken >= limit end)
  while #taken < limit do
    local open = {}
    for _, room in ipairs(rooms) do
      if room.left > 0 then open[#open + 1] = room end
    end
    if #open == 0 then break end
    for _, room in ipairs(open) do serve(room, #open == 1 and limit or room.weight, 0) end
  end
  if passed then served.lane, served.count, served.isMoved = passed, WEIGHT_MAX, true end
  return served
end

-- The lane of the tenant and those of its users.
local function lanesOfTenant(tenant)
  return {
    { from = tenant, till = tenant .. '\1' },
    { from = tenant .. '/', till = tenant .. '0' },
  }
end

local function nextLane(spans, lane, isBehind)
  local first
  for _, span in ipairs(spans) do
    local isInside = not isBefore(lane, span.from)
    if not isInside or isBefore(lane, span.till) then
      local found = firstLane(isInside and lane or span.from, span.till, isInside and isBehind)
      if found and (not first or isBefore(found, first)) then first = found end
    end
  end
  return first
end

-- The least name of a tenant that has something due. In the order of lanes the users of 'a' come
-- behind the tenant 'a-b'.
local function nextTenant(tenant, isBehind)
  if not isBehind then
    for _, span in ipairs(lanesOfTenant(tenant)) do
      if firstLane(span.from, span.till) then return tenant end
    end
  end
  local lane = firstLane(tenant, tenant .. '/', true) or firstLane(tenant .. '0')
  while lane and isBefore(tenantOf(lane), tenant) do lane = firstLane(tenantOf(lane) .. '0') end
  if not lane then return nil end
  local found = tenantOf(lane)
  for i = 1, #found do
    if isBefore(sub(found, i, i), '/') then
      local name = sub(found, 1, i - 1)
      if isBefore(tenant, name) and firstLane(name .. '/', name .. '0') then return name end
    end
  end
  return found
end

-- The jobs a lane gave already come first, so that serving it again begins with the same.
local given = {}
local function lanesRing(spans)
  local positions = {}
  return {
    next = function(lane, isBehind) return nextLane(spans, lane, isBehind) end,
    room = laneRoom,
    give = function(lane, limit)
      local known, from, jobs = given[lane] or {}, positions[lane] or 0, {}
      given[lane] = known
      local missing = from + limit - #known
      if missing > 0 then
        for _, job in ipairs(nextJobs(lane, missing)) do known[#known + 1] = job end
      end
      for i = from + 1, min(from + limit, #known) do jobs[#jobs + 1] = known[i] end
      positions[lane] = from + #jobs
      return jobs
    end,
  }
end

local function serveAhead(ahead, tenant, asked)
  ahead.served = serveRing(lanesRing(lanesOfTenant(tenant)), ahead.turn, asked)
  ahead.asked = asked
end

local function keepTurnsOf(tenants)
  for _, ahead in pairs(tenants) do
    if ahead.hasUsers then
      local served, n = ahead.served, ahead.given
      local isAll = n == #served.taken
      local lane = isAll and served.lane or served.lanes[n]
      local taken = isAll and served.count or served.counts[n]
      keepTurn(ahead.name, lane, claim.hasLimits and taken or 1)
    end
  end
end

-- A tenant has its turn among the tenants, whatever the number of its lanes.
local function serveTenants(turn, limit)
  local tenants, n, total = {}, 0, 0
  local function begin(tenant)
    local name = claim.queue .. '\n' .. claim.scope .. '\n' .. tenant
    local hasUsers = firstLane(tenant .. '/', tenant .. '0') ~= nil
    local isTurn = hasUsers and not claim.isAllTaken
    tenants[tenant] = {
      name = name, hasUsers = hasUsers, given = 0, asked = 0,
      turn = isTurn and storedTurn(name) or { lane = '', taken = 0 },
    }
    n = n + 1
    return tenants[tenant]
  end
  local function give(tenant, count)
    local ahead = tenants[tenant] or begin(tenant)
    local last = ahead.given + count
    if last > ahead.asked then
      local asked = last
      if ahead.given > 0 then
        local expected = ahead.given + ceil((limit - total) / n)
        asked = min(limit, max(last, expected, 2 * ahead.asked))
      end
      serveAhead(ahead, tenant, asked)
    end
    local jobs, taken = {}, ahead.served.taken
    for i = ahead.given + 1, min(last, #taken) do jobs[#jobs + 1] = taken[i] end
    ahead.given = ahead.given + #jobs
    total = total + #jobs
    return jobs
  end
  local served = serveRing({ next = nextTenant, room = tenantRoom, give = give }, turn, limit)
  if not claim.isAllTaken then keepTurnsOf(tenants) end
  return served
end
