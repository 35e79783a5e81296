// Due and waiting → running. While everything due fits it is simply taken; when more is due, the
// earliest is made ready in bites and the lanes take turns, as core/fair says.

import { base } from './base.ts'
import { ordering } from './fair.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { tallies } from './tallies.ts'

/** Timed jobs made ready in one claim, at least; what is due later waits for the next. */
export const BITE = 1_000
const BITE_FACTOR = 4

/** In place of the row of a job that is not leased, but to be set aside. */
export const DAMAGED_ROW = '!'

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
local function everything(lines, limit)
  local lanes, names, all, ready = {}, {}, {}, {}
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
  for _, found in ipairs(all) do
    local lane = lanes[found.lane]
    if lane then
      lane[#lane + 1] = found
    else
      lanes[found.lane] = { found }
      names[#names + 1] = found.lane
    end
  end
  for _, name in ipairs(names) do inRank(lanes[name]) end
  local cursor = call('HGET', P .. 'cursors', queue) or ''
  local ring = #names > 1 and ringFrom(names, cursor) or names
  return (takeTurns(ring, lanes, limit))
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

const leasing = String.raw`
-- By the first number of its body. Names may look like that, so what is found is looked at again.
local function isUnstarted(row)
  return find(row, '\0[0', 1, true) and match(row, '%z%[0,[^%z]*$')
end

-- Jobs as numbers, all of one line, or as places that know their line.
local function lease(taken, line)
  local seqs, unread = {}, {}
  for i = 1, #taken do
    seqs[i] = line and taken[i] or taken[i].seq
    if line or not taken[i].row then unread[#unread + 1] = seqs[i] end
  end
  local rows, n = fetch('HMGET', P .. 'jobs', unread), 0
  local stamp, till = int(now), int(now + leaseMs)
  local middle, tail = Z .. token .. Z .. 'c' .. Z, Z .. owner .. Z .. stamp .. Z .. till
  local leases, reply, begun, held = {}, { stamp }, {}, {}
  local last, version, front, kind, tenant, isNew
  for i = 1, #seqs do
    local job, row = taken[i], nil
    if line or not job.row then
      n = n + 1
      row = rows[n]
    else
      row = job.row
    end
    -- What was made together mostly has the same row: it is looked at and told once.
    local isSame = row == last
    if not isSame then
      version, kind, tenant = match(row or '', '^(%d+)%z%d+%z%d%z([01])%z([^%z]*)')
      last = row
      if version then
        front, isNew = int(version + 1) .. middle, kind == '0' and isUnstarted(row)
      end
    end
    if version then
      local k = #held + 1
      local counts = (line or job.line).counts[kind]
      counts[tenant] = (counts[tenant] or 0) + 1
      if isNew then
        begun[tenant] = begun[tenant] or {}
        insert(begun[tenant], seqs[i])
      end
      held[k] = seqs[i]
      leases[2 * k - 1] = seqs[i]
      leases[2 * k] = front .. ARGV[at + k] .. tail
      reply[2 * k] = seqs[i]
      reply[2 * k + 1] = isSame and '' or row
    else
      bad[#bad + 1] = seqs[i]
    end
  end
  if #held > 0 then
    batch('HSET', P .. 'leases', leases)
    beginLease(token, till, held)
  end
  for tenant, list in pairs(begun) do moveMarked(tenant, UNSTARTED, LIVE, list) end
  for i = 1, #bad do
    reply[#reply + 1] = bad[i]
    reply[#reply + 1] = '${DAMAGED_ROW}'
  end
  return reply
end

local function moveTallies(lines)
  for _, line in ipairs(lines) do
    for kind, counts in pairs(line.counts) do
      for tenant, count in pairs(counts) do
        tally(tenant, line.name, queue, kind, '0', -count)
        tally(tenant, line.name, queue, kind, '1', count)
      end
    end
  end
  flushTallies()
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
local taken, last, reply
local one = #lines == 1 and not lines[1].isMixed and lines[1]
if countDue(lines, limit) <= limit then
  one, taken = false, everything(lines, limit)
else
  promote(lines)
  local cursor = call('HGET', P .. 'cursors', queue) or ''
  if one then
    taken, last = inTurnOfOne(one, cursor, limit)
  else
    taken, last = inTurnOfMany(lines, cursor, limit)
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
export const claimBody = [opening, finding, fitting, contending, leasing, closing].join('\n')

export const claimScript = [base, places, listed, tallies, ordering, claimBody].join('\n')
