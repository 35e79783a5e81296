// Due and waiting → running. While everything due fits it is simply taken; when more is due, the
// earliest is made ready in bites and the lanes take turns, as core/fair says.

import { base } from './base.ts'
import { ordering } from './fair.ts'
import { places } from './places.ts'
import { tallies } from './tallies.ts'

/** Timed jobs made ready in one claim, at least; what is due later waits for the next. */
export const BITE = 1_000
const BITE_FACTOR = 4

const finding = String.raw`
local function laneKey(line, lane) return P .. 'ready:' .. line.name .. Z .. lane end

-- After a clock was set back, ready jobs may not be due yet: then each of them is looked at.
local function dueOf(line, lane)
  if not line.found then line.found = {} end
  if line.found[lane] then return line.found[lane] end
  local key = laneKey(line, lane)
  local list = call('ZRANGE', key, 0, bite - 1, 'WITHSCORES')
  local seqs, found = {}, {}
  for i = 1, #list, 2 do seqs[#seqs + 1] = list[i] end
  local rows = fetch('HMGET', P .. 'jobs', seqs)
  for i = 1, #seqs do
    if tonumber(head(rows[i]).due) <= now then
      found[#found + 1] = { seq = seqs[i], rank = tonumber(list[2 * i]), line = line, key = key }
    end
  end
  line.found[lane] = found
  return found
end

local function placesOf(line, lane, from, count)
  local places = {}
  if line.isMixed then
    local found = dueOf(line, lane)
    for i = from + 1, min(from + count, #found) do places[#places + 1] = found[i] end
    return places
  end
  local key = laneKey(line, lane)
  local list = call('ZRANGE', key, from, from + count - 1, 'WITHSCORES')
  for i = 1, #list, 2 do
    places[#places + 1] = { seq = list[i], rank = tonumber(list[i + 1]), line = line, key = key }
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
`

const fitting = String.raw`
local function everything(lines, limit)
  local lanes, names, all = {}, {}, {}
  for _, line in ipairs(lines) do
    if line.timed > 0 then
      local key = P .. 'timed:' .. line.name
      local seqs = call('ZRANGEBYSCORE', key, '-inf', int(now), 'LIMIT', 0, limit)
      local rows = fetch('HMGET', P .. 'jobs', seqs)
      for i = 1, #seqs do
        local h = head(rows[i])
        all[#all + 1] = {
          seq = seqs[i], rank = tonumber(h.rank), line = line, row = rows[i], lane = h.lane,
        }
      end
      call('ZREMRANGEBYSCORE', key, '-inf', int(now))
    end
    for _, lane in ipairs(line.lanes or {}) do
      for _, found in ipairs(placesOf(line, lane, 0, limit)) do
        found.lane = lane
        all[#all + 1] = found
      end
    end
  end
  for _, found in ipairs(all) do
    if not lanes[found.lane] then
      lanes[found.lane] = {}
      names[#names + 1] = found.lane
    end
    insert(lanes[found.lane], found)
  end
  for _, name in ipairs(names) do inRank(lanes[name]) end
  local cursor = call('HGET', P .. 'cursors', queue) or ''
  local ring = #names > 1 and ringFrom(names, cursor) or names
  return takeTurns(ring, lanes, limit)
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
  local rows = fetch('HMGET', P .. 'jobs', seqs)
  for i = 1, #seqs do
    local h = head(rows[i])
    h.place = 'r'
    place(seqs[i], h)
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

local function ringOf(lines, cursor, limit)
  local ring, byLane = {}, {}
  for _, line in ipairs(lines) do
    if line.isReady then
      for _, lane in ipairs(lanesOf(line, cursor, limit)) do
        if not byLane[lane] then
          byLane[lane] = {}
          ring[#ring + 1] = lane
        end
        insert(byLane[lane], line)
      end
    end
  end
  if #lines > 1 then ring = ringFrom(ring, cursor) end
  for i = limit + 1, #ring do ring[i] = nil end
  return ring, byLane
end

-- Places enough for the turns to end as over everything that is ready.
local function inTurn(lines, limit)
  local cursor = call('HGET', P .. 'cursors', queue) or ''
  local ring, byLane = ringOf(lines, cursor, limit)
  local lanes, open, turns, depth = {}, ring, 0, 0
  for i = 1, #ring do lanes[ring[i]] = {} end
  while turns < limit and #open > 0 do
    local step, deeper = ceil((limit - turns) / #open), {}
    for i = 1, #open do
      local lane, count = open[i], 0
      for _, line in ipairs(byLane[lane]) do
        for _, found in ipairs(placesOf(line, lane, depth, step)) do
          insert(lanes[lane], found)
          count = count + 1
        end
      end
      turns = turns + min(count, step)
      if count >= step then deeper[#deeper + 1] = lane end
    end
    open, depth = deeper, depth + step
  end
  for lane, held in pairs(lanes) do
    if #byLane[lane] > 1 then inRank(held) end
    for i = 1, #held do held[i].lane = lane end
  end
  return takeTurns(ring, lanes, limit)
end
`

const leasing = String.raw`
local function leaveLanes(taken)
  local byKey, keys = {}, {}
  for _, job in ipairs(taken) do
    if job.key then
      if not byKey[job.key] then
        byKey[job.key] = { job = job }
        keys[#keys + 1] = job.key
      end
      insert(byKey[job.key], job.seq)
    end
  end
  for _, key in ipairs(keys) do
    local gone = byKey[key]
    batch('ZREM', key, gone)
    leaveLane(gone.job.line.name, gone.job.lane, key)
  end
end

local function rowsOf(taken)
  local seqs = {}
  for i, job in ipairs(taken) do
    if not job.row then seqs[#seqs + 1] = job.seq end
  end
  local rows, n = fetch('HMGET', P .. 'jobs', seqs), 0
  for _, job in ipairs(taken) do
    if not job.row then
      n = n + 1
      job.row = rows[n]
    end
  end
end

local function lease(taken)
  local stamp = int(now)
  local till = int(now + leaseMs)
  local tail = Z .. owner .. Z .. stamp .. Z .. till
  local leases, ends, reply = {}, {}, { stamp }
  for i, job in ipairs(taken) do
    local version, fence, kind, tenant =
      match(job.row, '^(%d+)%z(%d+)%z%d%z(%d)%z([^%z]*)%z')
    local name = job.line.name
    tally(tenant, name, queue, kind, '0', -1)
    tally(tenant, name, queue, kind, '1', 1)
    local n = 2 * i
    leases[n - 1] = job.seq
    leases[n] = int(version + 1) .. Z .. token .. Z .. int(fence + 1) .. Z .. 'c' .. Z
      .. ARGV[at + i] .. tail
    ends[n - 1] = till
    ends[n] = job.seq
    reply[n] = job.seq
    reply[n + 1] = job.row
  end
  batch('HSET', P .. 'leases', leases)
  batch('ZADD', P .. 'ends', ends)
  flushTallies()
  return reply
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
    lines[#lines + 1] = { name = name, timed = timed, isReady = isReady, isMixed = mark > now }
  end
end
if #lines == 0 then return {} end
`

const closing = String.raw`
local taken, last
if countDue(lines, limit) <= limit then
  taken = everything(lines, limit)
else
  promote(lines)
  taken, last = inTurn(lines, limit)
end
if #taken == 0 then return {} end
leaveLanes(taken)
rowsOf(taken)
if last then call('HSET', P .. 'cursors', queue, last) end
return lease(taken)
`

export const claimScript = [
  base,
  places,
  tallies,
  ordering,
  opening,
  finding,
  fitting,
  contending,
  leasing,
  closing,
].join('\n')
