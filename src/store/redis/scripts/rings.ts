// The rings of tenants and lanes: who is next, how much room each has, and the turns among them as
// core/turns has them.

import { LANE_KIND, laneLimits } from '../../../core/lane.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../../core/turns.ts'

const finding = String.raw`
-- What a claim with rules, shares or a scope sets.
local isRuled, scope, share, shareHeld = false, '', nil, {}

local function tenantOf(lane) return match(lane, '^[^/]*') end

-- The first lane of a line from a bound on that has something due.
local function firstOf(line, bound, till)
  local key, last = P .. 'ring:' .. line.name, till and '(' .. till or '+'
  if not line.isMixed then return call('ZRANGEBYLEX', key, bound, last, 'LIMIT', 0, 1)[1] end
  for _, lane in ipairs(call('ZRANGEBYLEX', key, bound, last, 'LIMIT', 0, bite)) do
    if #dueOf(line, lane) > 0 then return lane end
  end
end

local function firstIn(from, till, isBehind)
  local first
  for _, line in ipairs(lines) do
    local found = line.isReady and firstOf(line, (isBehind and '(' or '[') .. from, till)
    if found and (not first or isBefore(found, first)) then first = found end
  end
  return first
end

-- The lane of the tenant and those of its users.
local function spansOf(tenant)
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
      local found = firstIn(isInside and lane or span.from, span.till, isInside and isBehind)
      if found and (not first or isBefore(found, first)) then first = found end
    end
  end
  return first
end

-- The least name of a tenant that has something due. In the order of lanes the users of 'a' come
-- behind the tenant 'a-b'.
local function nextTenant(tenant, isBehind)
  if not isBehind then
    for _, span in ipairs(spansOf(tenant)) do
      if firstIn(span.from, span.till) then return tenant end
    end
  end
  local lane = firstIn(tenant, tenant .. '/', true) or firstIn(tenant .. '0')
  while lane and isBefore(tenantOf(lane), tenant) do lane = firstIn(tenantOf(lane) .. '0') end
  if not lane then return nil end
  local found = tenantOf(lane)
  for i = 1, #found do
    local name = sub(found, 1, i - 1)
    if isBefore(sub(found, i, i), '/') and isBefore(tenant, name) then
      if firstIn(name .. '/', name .. '0') then return name end
    end
  end
  return found
end

local function ruleOf(lane)
  if not isRuled then return nil end
  local text = call('HGET', P .. 'rec:${LANE_KIND}', lane)
  if not text then return nil end
  local _, expire, json = match(text, '^(%d+)%z(%-?%d*)%z(.*)$')
  if expire ~= '' and tonumber(expire) <= now then return nil end
  local isRead, rule = pcall(cjson.decode, json)
  return isRead and type(rule) == 'table' and rule or nil
end

-- Jobs no longer held under the lease they were claimed with are forgotten.
local function runningIn(lane)
  local key = P .. 'capped:' .. lane
  local held, n = call('HGETALL', key), 0
  for i = 1, #held, 2 do
    local text = call('HGET', P .. 'leases', held[i])
    if text and leaseOf(text).token == held[i + 1] then
      n = n + 1
    else
      call('HDEL', key, held[i])
    end
  end
  return n
end

local function roomOf(lane)
  local rule = ruleOf(lane)
  local room = { lane = lane, weight = 1, left = math.huge }
  if not rule then return room end
  room.weight = rule.weight or 1
  if rule.runningMax then room.left = max(0, rule.runningMax - runningIn(lane)) end
  if rule.count then
    local whole = tonumber(call('GET', P .. 'rate:' .. lane) or 0)
    local spent = ceil((whole - now) * rule.count / rule.perMs - 0.001)
    room.left = min(room.left, max(0, rule.count - max(0, spent)))
  end
  return room
end

local function tenantRoom(tenant)
  local room = roomOf(tenant)
  if share then room.left = min(room.left, max(0, share - (shareHeld[tenant] or 0))) end
  return room
end
`

const keeping = String.raw`
local function turnAt(key)
  local text = call('HGET', P .. 'rec:${TURN_KIND}', key)
  local version, expire, json = match(text or '', '^(%d+)%z(%-?%d*)%z(.*)$')
  if version and (expire == '' or tonumber(expire) > now) then
    local turn = cjson.decode(json)
    return { lane = turn.lane, taken = turn.taken, version = tonumber(version) }
  end
  return { lane = '', taken = 0, version = 0 }
end

-- As scripts/records writes one.
local function keepTurn(key, lane, count, version)
  local expire = int(now + ${TURN_KEPT_MS})
  local json = cjson.encode({ lane = lane, taken = count })
  call('HSET', P .. 'rec:${TURN_KIND}', key, int(version + 1) .. Z .. expire .. Z .. json)
  call('ZADD', P .. 'rk:${TURN_KIND}', 0, key)
  call('SADD', P .. 'kinds', '${TURN_KIND}')
  call('ZADD', P .. 'rx', expire, '${TURN_KIND}' .. Z .. key)
end
`

const serving = String.raw`
-- Who is served, with the turn behind each of them.
local function serveRing(ring, turn, limit)
  local taken, lanes, counts = {}, {}, {}
  local served = {
    taken = taken, lanes = lanes, counts = counts,
    lane = turn.lane, count = turn.taken, isMoved = false,
  }
  local rooms, idle, passed = {}, 0, nil
  local function serve(room, quota, before)
    local wanted = min(quota, room.left, limit - #taken)
    if wanted <= 0 then return 0 end
    local given = ring.give(room.lane, wanted)
    for i, job in ipairs(given) do
      local n = #taken + 1
      taken[n], lanes[n], counts[n] = job, room.lane, before + i
    end
    room.left = #given < wanted and 0 or room.left - #given
    if #given > 0 then
      served.lane, served.count, served.isMoved = room.lane, before + #given, true
    end
    return #given
  end
  local function visit(lane, before)
    local room = ring.room(lane)
    rooms[#rooms + 1] = room
    idle = serve(room, room.weight - before, before) > 0 and 0 or idle + 1
  end
  local function firstRound()
    local isGoing = turn.taken > 0 and ring.next(turn.lane, false) == turn.lane
      and ring.room(turn.lane).weight > turn.taken
    if isGoing then visit(turn.lane, turn.taken) end
    local lane = ring.next(turn.lane, true)
    local isWrapped = not lane
    if isWrapped then lane = ring.next('', false) end
    while lane and #taken < limit do
      if isWrapped and (isBefore(turn.lane, lane) or (isGoing and lane == turn.lane)) then
        return
      end
      visit(lane, 0)
      if idle >= ${laneLimits.idleMax} then
        passed = lane
        return
      end
      local behind = ring.next(lane, true)
      if not behind and not isWrapped then
        isWrapped = true
        behind = ring.next('', false)
      end
      lane = behind
    end
  end
  firstRound()
  while #taken < limit do
    local open = {}
    for _, room in ipairs(rooms) do
      if room.left > 0 then open[#open + 1] = room end
    end
    if #open == 0 then break end
    for _, room in ipairs(open) do serve(room, #open == 1 and limit or room.weight, 0) end
  end
  if passed then
    served.lane, served.count, served.isMoved = passed, ${laneLimits.weightMax}, true
  end
  return served
end
`

const nesting = String.raw`
-- Jobs of a lane that were looked at, in the order of rank, of every line so many.
local looked = {}
local function rowsOf(lane, count)
  local known = looked[lane]
  if known and (known.count >= count or #known.found < known.count) then return known.found end
  local found = {}
  for _, line in ipairs(lines) do
    if line.isReady then
      for _, job in ipairs(placesOf(line, lane, 0, 2 * count)) do found[#found + 1] = job end
    end
  end
  inRank(found)
  looked[lane] = { found = found, count = 2 * count }
  return found
end

-- The rule under the name of the tenant holds for all its lanes together.
local function laneRoom(lane)
  if tenantOf(lane) == lane then return { lane = lane, weight = 1, left = math.huge } end
  return roomOf(lane)
end

local function lanesRing(spans)
  local given = {}
  return {
    next = function(lane, isBehind) return nextLane(spans, lane, isBehind) end,
    room = laneRoom,
    give = function(lane, count)
      local from, jobs = given[lane] or 0, {}
      local rows = rowsOf(lane, from + count)
      for i = from + 1, min(from + count, #rows) do jobs[#jobs + 1] = rows[i] end
      given[lane] = from + #jobs
      return jobs
    end,
  }
end

local function serveAhead(ahead, tenant, asked)
  ahead.served = serveRing(lanesRing(spansOf(tenant)), ahead.turn, asked)
  ahead.asked = asked
end

local function keepTurnsOf(known)
  for tenant, ahead in pairs(known) do
    if ahead.hasUsers then
      local served, n = ahead.served, ahead.given
      local isAll = n == #served.taken
      local lane = isAll and served.lane or served.lanes[n]
      local count = isAll and served.count or served.counts[n]
      keepTurn(ahead.key, lane, isRuled and count or 1, ahead.turn.version)
    end
  end
end

-- A tenant has its turn among the tenants, whatever the number of its lanes.
local function serveTenants(turn, limit)
  local known, tenants, total = {}, 0, 0
  local function give(tenant, count)
    local ahead = known[tenant]
    if not ahead then
      local key = queue .. '\n' .. scope .. '\n' .. tenant
      local hasUsers = firstIn(tenant .. '/', tenant .. '0') ~= nil
      ahead = { key = key, turn = turnAt(key), hasUsers = hasUsers, given = 0, asked = 0 }
      known[tenant] = ahead
      tenants = tenants + 1
    end
    local last = ahead.given + count
    if last > ahead.asked then
      local asked = last
      if ahead.given > 0 then
        local expected = ahead.given + ceil((limit - total) / tenants)
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
  keepTurnsOf(known)
  return served
end
`

export const ringing = [finding, keeping, serving, nesting].join('\n')
