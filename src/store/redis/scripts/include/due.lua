-- What of the routes of a claim is due: timed jobs are made ready in batches, the earliest first,
-- and ready ones are read lane by lane in the order of rank.

-- @include codec
-- @include constants
-- @include names
-- @include places

-- A claim makes at least READY_BATCH timed jobs ready, and more when it may take many.
local READY_FACTOR = 4
-- Lanes of a route read at once; of more, each is looked up as it is reached.
local LANES_MAX = 256
-- Jobs of a lane and route read at once.
local CHUNK = 8

-- The claim under way: queue, now, limit, routes, and the rows read so far.
local claim = { routes = {}, rows = {}, damaged = {} }

local function addRouteOf(handler)
  local name = claim.queue .. NUL .. handler
  local due = call('ZCOUNT', key(timedKey(name)), '-inf', int(claim.now))
  local lanes = call('ZRANGE', key(ringKey(name)), 0, LANES_MAX - 1)
  if due > 0 or #lanes > 0 then
    insert(claim.routes, { name = name, due = due, lanes = lanes, streams = {} })
  end
end

-- Jobs whose row is missing or does not decode are reported, to be set aside.
local function rowOf(seq, text)
  local h = decodeRow(text)
  if h == DAMAGED then
    insert(claim.damaged, seq)
    return nil
  end
  claim.rows[seq] = { text = text, h = h }
  return h
end

-- Makes the next job of a stream its first one: its number and score, nothing at the end.
local function advance(stream)
  local at = stream.at + 2
  if at > #stream.list and not stream.isEnd then
    local last = stream.read + stream.chunk - 1
    stream.list = call('ZRANGE', key(stream.name), stream.read, last, 'WITHSCORES')
    stream.read, stream.isEnd, at = last + 1, #stream.list < 2 * stream.chunk, 1
  end
  stream.at, stream.seq = at, stream.list[at]
  stream.score = stream.seq and tonumber(stream.list[at + 1])
end

-- A sorted set that is read in chunks, as far as its jobs come before those of others.
local function openStream(route, name, chunk)
  return { route = route, name = name, chunk = chunk, list = {}, at = -1, read = 0 }
end

-- The first jobs of several streams up to a score, in the order of scores, then of numbers.
local function mergeStreams(streams, limit, till)
  local jobs = {}
  while #jobs < limit do
    local best, bestSeq, bestScore
    for _, stream in ipairs(streams) do
      local seq, score = stream.seq, stream.score
      if seq and (not best or score < bestScore or (score == bestScore and seq < bestSeq)) then
        best, bestSeq, bestScore = stream, seq, score
      end
    end
    if not best or bestScore > till then break end
    advance(best)
    jobs[#jobs + 1] = { seq = bestSeq, stream = best }
  end
  return jobs
end

-- The earliest timed jobs that are due, over all routes.
local function timedJobs(batchSize)
  local routes, streams = {}, {}
  for _, route in ipairs(claim.routes) do
    if route.due > 0 then routes[#routes + 1] = route end
  end
  for i, route in ipairs(routes) do
    streams[i] = openStream(route, timedKey(route.name), ceil(batchSize / #routes))
    advance(streams[i])
  end
  return mergeStreams(streams, batchSize, claim.now)
end

local function makeDueReady()
  local batchSize = max(READY_BATCH, READY_FACTOR * claim.limit)
  local jobs, seqs = timedJobs(batchSize), {}
  for i, job in ipairs(jobs) do seqs[i] = job.seq end
  for i, text in ipairs(fetch('HMGET', 'jobs', seqs)) do
    local route = jobs[i].stream.route
    zrem(timedKey(route.name), seqs[i])
    route.due = route.due - 1
    route.isChanged = true
    local h = rowOf(seqs[i], text)
    if h and h.due then makeReady(route.name, h.lane, h.due, h.rank, seqs[i]) end
  end
  flushPlaces()
  flushWrites()
  -- What this claim made ready is news for nobody.
  isSooner = false
end

local function readRings()
  for _, route in ipairs(claim.routes) do
    if route.isChanged then
      route.lanes = call('ZRANGE', key(ringKey(route.name)), 0, LANES_MAX - 1)
    end
    route.isWhole = #route.lanes < LANES_MAX
    if #route.lanes > 0 then
      local latestDue = tonumber(call('ZSCORE', key('ready:latest-due'), route.name)) or 0
      route.hasFuture = latestDue > claim.now
    end
  end
end

-- After a clock was set back, ready jobs may not be due yet: then each of them is looked at.
local function dueOnly(stream)
  local last = max(READY_BATCH, READY_FACTOR * claim.limit) - 1
  local list, seqs, found = call('ZRANGE', key(stream.name), 0, last, 'WITHSCORES'), {}, {}
  for i = 1, #list, 2 do insert(seqs, list[i]) end
  for i, text in ipairs(fetch('HMGET', 'jobs', seqs)) do
    local h = rowOf(seqs[i], text)
    if not h then
      zrem(stream.name, seqs[i])
    elseif h.due and h.due <= claim.now then
      insert(found, seqs[i])
      insert(found, list[2 * i])
    end
  end
  return found
end

-- The ready jobs of a lane in one route, in the order of rank, read in chunks.
local function streamOf(route, lane)
  local stream = route.streams[lane]
  if stream then return stream end
  stream = openStream(route, laneKey(route.name, lane), CHUNK)
  stream.lane = lane
  route.streams[lane] = stream
  if route.hasFuture then stream.list, stream.isEnd = dueOnly(stream), true end
  advance(stream)
  return stream
end

-- How many are ready in a lane of a route, counted up to the limit and one more.
local function countReady(route, lane)
  if not route.hasFuture then return call('ZCARD', key(laneKey(route.name, lane))) end
  return #streamOf(route, lane).list / 2
end

-- Whether everything that is due fits into the claim.
local function isAllTaken()
  local n = 0
  for _, route in ipairs(claim.routes) do n = n + route.due end
  for _, route in ipairs(claim.routes) do
    if not route.isWhole then return false end
    for _, lane in ipairs(route.lanes) do
      if n > claim.limit then return false end
      n = n + countReady(route, lane)
    end
  end
  return n <= claim.limit
end

-- The first lane of a route within bounds that has something due.
local function firstLaneIn(route, from, till, isBehind)
  local function isFit(lane) return not route.hasFuture or #streamOf(route, lane).list > 0 end
  local lanes = route.lanes
  if not route.isWhole then
    lanes = call('ZRANGEBYLEX', key(ringKey(route.name)), (isBehind and '(' or '[') .. from,
      till and '(' .. till or '+', 'LIMIT', 0, route.hasFuture and READY_BATCH or 1)
  end
  for _, lane in ipairs(lanes) do
    if till and not isBefore(lane, till) then return nil end
    local isPast = isBefore(lane, from) or (isBehind and lane == from)
    if not isPast and isFit(lane) then return lane end
  end
end

local function firstLane(from, till, isBehind)
  local first
  for _, route in ipairs(claim.routes) do
    local lane = firstLaneIn(route, from, till, isBehind)
    if lane and (not first or isBefore(lane, first)) then first = lane end
  end
  return first
end

-- The next jobs of a lane in the order of rank, over all routes.
local function nextJobs(lane, limit)
  local streams = {}
  for _, route in ipairs(claim.routes) do streams[#streams + 1] = streamOf(route, lane) end
  return mergeStreams(streams, limit, math.huge)
end

local function leaveLanes(jobs)
  local streams = {}
  for _, job in ipairs(jobs) do
    zrem(job.stream.name, job.seq)
    streams[job.stream] = true
  end
  flushWrites()
  for stream in pairs(streams) do leaveLane(stream.route.name, stream.lane) end
end
