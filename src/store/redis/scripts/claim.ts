// Due and waiting → running. While everything due fits it is simply taken; when more is due, the
// earliest is made ready in bites, and tenants and their users take turns, as core/fair says.

import { base } from './base.ts'
import { ordering } from './fair.ts'
import { leasing } from './lease.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { ringing } from './rings.ts'
import { tallies } from './tallies.ts'

/** Timed jobs made ready in one claim, at least; what is due later waits for the next. */
export const BITE = 1_000
const BITE_FACTOR = 4

const finding = String.raw`
local LANE = '^%d+%z%d+%z%d%z%d%z[^%z]*%z[^%z]*%z[^%z]*%z([^%z]*)%z.%z(%-?%d*)%z(%-?%d*)%z'

-- Jobs whose row is missing or says nothing: out of their places, told to be set aside.
local bad = {}

local function laneKey(line, lane) return P .. 'ready:' .. line.name .. Z .. lane end

-- After a clock was set back, ready jobs may not be due yet: then each of them is looked at.
local function dueOf(line, lane)
  if line.found[lane] then return line.found[lane] end
  local list = call('ZRANGE', laneKey(line, lane), 0, bite - 1, 'WITHSCORES')
  local seqs, found = {}, {}
  for i = 1, #list, 2 do seqs[#seqs + 1] = list[i] end
  for i, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do
    local _, due = match(row or '', LANE)
    if not due then
      call('ZREM', laneKey(line, lane), seqs[i])
      bad[#bad + 1] = seqs[i]
    elseif tonumber(due) <= now then
      found[#found + 1] = { seq = seqs[i], rank = tonumber(list[2 * i]), line = line, lane = lane }
    end
  end
  line.found[lane] = found
  return found
end

-- Jobs of a lane in the order of rank, with the line they are of.
local function placesOf(line, lane, from, count)
  local places = {}
  if line.isMixed then
    local found = dueOf(line, lane)
    for i = from + 1, min(from + count, #found) do places[#places + 1] = found[i] end
    return places
  end
  local list = call('ZRANGE', laneKey(line, lane), from, from + count - 1, 'WITHSCORES')
  for i = 1, #list, 2 do
    places[#places + 1] = { seq = list[i], rank = tonumber(list[i + 1]), line = line, lane = lane }
  end
  return places
end

-- How many are due, counted up to one more than fits.
local function countDue(lines, limit)
  local count = 0
  for _, line in ipairs(lines) do count = count + line.timed end
  for _, line in ipairs(lines) do
    if count > limit then return count end
    if line.isReady then
      line.lanes = call('ZRANGE', P .. 'ring:' .. line.name, 0, limit)
      if #line.lanes > limit and not line.isMixed then return limit + 1 end
      for _, lane in ipairs(line.lanes) do
        count = count
          + (line.isMixed and #dueOf(line, lane) or call('ZCARD', laneKey(line, lane)))
        if count > limit then return count end
      end
    end
  end
  return count
end

-- Out of their lanes, found with the line they are of.
local function leaveLanes(taken)
  local gone, keys = {}, {}
  for _, job in ipairs(taken) do
    local key = laneKey(job.line, job.lane)
    if not gone[key] then
      gone[key] = { job = job }
      keys[#keys + 1] = key
    end
    insert(gone[key], job.seq)
  end
  for _, key in ipairs(keys) do
    batch('ZREM', key, gone[key])
    leaveLane(gone[key].job.line.name, gone[key].job.lane, key)
  end
end
`

const fitting = String.raw`
local function grouped(jobs, nameOf)
  local groups, names = {}, {}
  for _, job in ipairs(jobs) do
    local name = nameOf(job)
    if not groups[name] then
      groups[name] = {}
      names[#names + 1] = name
    end
    insert(groups[name], job)
  end
  return groups, names
end

-- Tenants from behind the cursor on, the lanes of each from the first.
local function inTurns(jobs, cursor, limit)
  local lanes, names = grouped(jobs, function(job) return job.lane end)
  for _, name in ipairs(names) do inRank(lanes[name]) end
  if #names == 1 then return lanes[names[1]] end
  local byTenant, tenants = grouped(names, tenantOf)
  for _, tenant in ipairs(tenants) do
    local own = byTenant[tenant]
    byTenant[tenant] = #own == 1 and lanes[own[1]] or takeTurns(ringFrom(own, ''), lanes, limit)
  end
  return (takeTurns(ringFrom(tenants, cursor), byTenant, limit))
end

local function everything(lines, limit)
  local all, ready = {}, {}
  for _, line in ipairs(lines) do
    if line.timed > 0 then
      local key = P .. 'timed:' .. line.name
      local seqs = call('ZRANGEBYSCORE', key, '-inf', int(now), 'LIMIT', 0, limit)
      for i, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do
        local lane, _, rank = match(row or '', LANE)
        if lane then
          all[#all + 1] =
            { seq = seqs[i], rank = tonumber(rank), line = line, row = row, lane = lane }
        else
          bad[#bad + 1] = seqs[i]
        end
      end
      call('ZREMRANGEBYSCORE', key, '-inf', int(now))
    end
    for _, lane in ipairs(line.lanes or {}) do
      for _, found in ipairs(placesOf(line, lane, 0, limit)) do
        all[#all + 1] = found
        ready[#ready + 1] = found
      end
    end
  end
  leaveLanes(ready)
  return inTurns(all, tenantOf(call('HGET', P .. 'cursors', queue) or ''), limit)
end
`

const contending = String.raw`
-- The earliest due of all lines first.
local function promote(lines)
  local due = {}
  for _, line in ipairs(lines) do
    if line.timed > 0 then
      local key = P .. 'timed:' .. line.name
      local list = call('ZRANGEBYSCORE', key, '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, bite)
      for i = 1, #list, 2 do
        due[#due + 1] = { seq = list[i], rank = tonumber(list[i + 1]), line = line }
      end
    end
  end
  if #due == 0 then return end
  if #lines > 1 then inRank(due) end
  local seqs, gone = {}, {}
  for i = 1, min(bite, #due) do
    local line = due[i].line
    seqs[i] = due[i].seq
    if not gone[line.name] then gone[line.name] = {} end
    insert(gone[line.name], due[i].seq)
    line.isReady = true
  end
  for i, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do
    local lane, at, rank = match(row or '', LANE)
    if lane then
      makeReady(due[i].line.name, lane, tonumber(at), rank, seqs[i])
    else
      bad[#bad + 1] = seqs[i]
    end
  end
  for name, list in pairs(gone) do batch('ZREM', P .. 'timed:' .. name, list) end
  flushPlaces()
  woke = false
end

-- The ring of one line, starting behind the cursor: never more lanes than can have a turn.
local function lanesOf(line, cursor, limit)
  local key = P .. 'ring:' .. line.name
  local lanes = call('ZRANGEBYLEX', key, '(' .. cursor, '+', 'LIMIT', 0, limit)
  if #lanes < limit then
    local more = call('ZRANGEBYLEX', key, '-', '[' .. cursor, 'LIMIT', 0, limit - #lanes)
    for i = 1, #more do lanes[#lanes + 1] = more[i] end
  end
  return lanes
end

-- As deep as the turns go: places enough to end as over everything that is ready.
local function deepen(ring, limit, find)
  local lanes, open, turns, depth = {}, ring, 0, 0
  for i = 1, #ring do lanes[ring[i]] = {} end
  while turns < limit and #open > 0 do
    local step, deeper = ceil((limit - turns) / #open), {}
    for i = 1, #open do
      local lane = open[i]
      local list, found = lanes[lane], find(lane, depth, step)
      if #list == 0 then
        lanes[lane] = found
      else
        for j = 1, #found do list[#list + 1] = found[j] end
      end
      turns = turns + min(#found, step)
      if #found >= step then deeper[#deeper + 1] = lane end
    end
    open, depth = deeper, depth + step
  end
  return lanes
end

-- One line whose ready jobs are all due: a lane is a list of numbers, and gives from its front.
local function inTurnOfOne(line, cursor, limit)
  local ring = lanesOf(line, cursor, limit)
  local lanes = deepen(ring, limit, function(lane, from, count)
    return call('ZRANGE', laneKey(line, lane), from, from + count - 1)
  end)
  local seqs, last, counts = takeTurns(ring, lanes, limit)
  for i = 1, #ring do
    local lane, count = ring[i], counts[i]
    if count > 0 then
      local key = laneKey(line, lane)
      call('ZREMRANGEBYRANK', key, 0, count - 1)
      if count == #lanes[lane] then leaveLane(line.name, lane, key) end
    end
  end
  return seqs, last
end

local function inTurnOfMany(lines, cursor, limit)
  local ring, byLane = {}, {}
  for _, line in ipairs(lines) do
    for _, lane in ipairs(lanesOf(line, cursor, limit)) do
      if not byLane[lane] then
        byLane[lane] = {}
        ring[#ring + 1] = lane
      end
      insert(byLane[lane], line)
    end
  end
  ring = ringFrom(ring, cursor)
  for i = limit + 1, #ring do ring[i] = nil end
  local lanes = deepen(ring, limit, function(lane, from, count)
    local found = {}
    for _, line in ipairs(byLane[lane]) do
      for _, job in ipairs(placesOf(line, lane, from, count)) do found[#found + 1] = job end
    end
    return found
  end)
  for _, held in pairs(lanes) do inRank(held) end
  local taken, last = takeTurns(ring, lanes, limit)
  leaveLanes(taken)
  return taken, last
end
`

const opening = String.raw`
local queue = take()
if call('SISMEMBER', P .. 'paused', queue) == 1 then return {} end
local now = takeNumber()
if take() == 'server' then now = min(now, serverNow()) end
local limit, leaseMs, token, owner = takeNumber(), takeNumber(), take(), take()
local bite = max(${BITE}, ${BITE_FACTOR} * limit)
local lines = {}
for _ = 1, takeNumber() do
  local name = queue .. Z .. take()
  local timed = call('ZCOUNT', P .. 'timed:' .. name, '-inf', int(now))
  local isReady = call('EXISTS', P .. 'ring:' .. name) == 1
  if timed > 0 or isReady then
    local mark = isReady and tonumber(call('ZSCORE', P .. 'marks', name) or 0) or 0
    lines[#lines + 1] = {
      name = name, timed = timed, isReady = isReady, isMixed = mark > now, found = {},
      counts = { ['0'] = {}, ['1'] = {} },
    }
  end
end
if #lines == 0 then return {} end
`

const closing = String.raw`
-- Whether all that is due is of tenants without users, and of fewer than can have a turn.
local function areTenantsDue()
  local lanes, n = {}, 0
  for _, line in ipairs(lines) do
    if line.isReady then
      for _, lane in ipairs(call('ZRANGE', P .. 'ring:' .. line.name, 0, limit - 1)) do
        if find(lane, '/', 1, true) then return false end
        if not lanes[lane] then n = n + 1 end
        lanes[lane] = true
        if n >= limit then return false end
      end
    end
  end
  return true
end

local function onlyTenantDue()
  local lane = firstIn('')
  if not lane then return nil end
  local tenant = tenantOf(lane)
  if firstIn(tenant, tenant .. '/', true) or firstIn(tenant .. '0') then return nil end
  return tenant
end

local taken, last, reply
local one = #lines == 1 and not lines[1].isMixed and lines[1]
if countDue(lines, limit) <= limit then
  one, taken = false, everything(lines, limit)
else
  promote(lines)
  local cursor = tenantOf(call('HGET', P .. 'cursors', queue) or '')
  local only = onlyTenantDue()
  local users = only and firstIn(only .. '/', only .. '0') and turnAt(queue .. '\n\n' .. only)
  if not only and not areTenantsDue() then
    local served = serveTenants({ lane = cursor, taken = 1 }, limit)
    one, taken, last = false, served.taken, served.isMoved and served.lane
    leaveLanes(taken)
  else
    local behind = users and users.lane or cursor
    if one then
      taken, last = inTurnOfOne(one, behind, limit)
    else
      taken, last = inTurnOfMany(lines, behind, limit)
    end
    if users and last then
      keepTurn(queue .. '\n\n' .. only, last, 1, users.version)
      last = only
    end
  end
end
if #taken == 0 and #bad == 0 then return {} end
if last then call('HSET', P .. 'cursors', queue, last) end
reply = lease(taken, one)
moveTallies(lines)
return reply
`

/** Claims with rules or lanes of their own find and lease alike. */
export const claimParts = { opening, finding, contending, leasing } as const

/** Everything behind what the script stands on; returns the answer. */
export const claimBody = [opening, finding, ringing, fitting, contending, leasing, closing].join(
  '\n',
)

export const claimScript = [base, places, listed, tallies, ordering, claimBody].join('\n')
