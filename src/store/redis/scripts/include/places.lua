-- Where claims find a waiting job: in the times of its route until it is due, then in its lane,
-- and the lane in the ring of the route. When a job becomes due sooner than all others, or the lanes
-- that had something ready may be at their limits, other nodes get a hint.

-- @include base

local isSooner = false
local timed, ready, rings, latest = {}, {}, {}, {}

local function timedKey(route) return 'timed:' .. route end
local function ringKey(route) return 'ready:lanes:' .. route end
local function laneKey(route, lane) return 'ready:jobs:' .. route .. NUL .. lane end
local function endedKey(kind, queue) return 'ended:' .. kind .. ':' .. queue end

local function makeReady(route, lane, due, rank, seq)
  push(ready, laneKey(route, lane), rank, seq)
  local ring = rings[route]
  if not ring then
    ring = {}
    rings[route] = ring
  end
  ring[lane] = true
  latest[route] = max(latest[route] or due, due)
end

local function place(seq, h, now)
  if h.state == 0 and h.due and h.due > now then
    push(timed, h.route, h.due, seq)
  elseif h.state == 0 and h.due then
    makeReady(h.route, h.lane, h.due, h.rank, seq)
  elseif h.state == 2 and h.pausedUntil then
    zadd('pauses:by-end', h.pausedUntil, seq)
  end
end

local function isBeforeAll(name, list)
  local first = call('ZRANGE', key(name), 0, 0, 'WITHSCORES')
  if #first == 0 then return true end
  local least = tonumber(first[2])
  for i = 1, #list, 2 do
    if list[i] < least then return true end
  end
  return false
end

local function flushPlaces()
  for route, list in pairs(timed) do
    local name = timedKey(route)
    isSooner = isSooner or isBeforeAll(name, list)
    batch('ZADD', name, list)
  end
  for route, lanes in pairs(rings) do
    local name, list = ringKey(route), {}
    local lanesBefore = call('ZCARD', key(name))
    for lane in pairs(lanes) do
      list[#list + 1] = 0
      list[#list + 1] = lane
    end
    batch('ZADD', name, list)
    isSooner = isSooner or call('ZCARD', key(name)) > lanesBefore
    call('ZADD', key('ready:latest-due'), 'GT', latest[route], route)
  end
  for name, list in pairs(ready) do batch('ZADD', name, list) end
  timed, ready, rings, latest = {}, {}, {}, {}
end

local function leaveLane(route, lane)
  if call('EXISTS', key(laneKey(route, lane))) == 0 then
    call('ZREM', key(ringKey(route)), lane)
  end
end

-- Of a job nobody holds. Being made ready does not rewrite a row, so both places are tried.
local function unplace(seq, h)
  if h.state == 0 and h.due and call('ZREM', key(timedKey(h.route)), seq) == 0 then
    if call('ZREM', key(laneKey(h.route, h.lane)), seq) == 1 then leaveLane(h.route, h.lane) end
  end
  if h.state == 2 and h.pausedUntil then call('ZREM', key('pauses:by-end'), seq) end
  if h.expire then call('ZREM', key(endedKey(h.kind, h.queue)), seq) end
end

local function wake(sender)
  if isSooner then call('SPUBLISH', key('wake'), sender) end
end
