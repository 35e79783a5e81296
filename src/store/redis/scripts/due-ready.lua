-- Ready jobs due within the times, route by route and lane by lane, from a place on: route, lane and
-- position. Answers how many were looked at, the next place, empty at the end, and what fits.

-- @include names
-- @include places
-- @include routes

local from, till, tenant, kind, queue = takeNumber(), takeNumber(), take(), take(), take()
local look = takeNumber()
local lastRoute, lastLane, position = take() or '', take() or '', takeNumber()
local seqs, place = {}, {}

local function readLane(route, lane)
  local first = route == lastRoute and lane == lastLane and position or 0
  local list = call('ZRANGE', key(laneKey(route, lane)), first, first + look - #seqs - 1)
  for i = 1, #list do seqs[#seqs + 1] = list[i] end
  place = #seqs == look and { route, lane, int(first + #list) } or {}
end

local function readRoute(route)
  local lanes = call('ZRANGEBYLEX', key(ringKey(route)), route == lastRoute and '[' .. lastLane or '-',
    '+', 'LIMIT', 0, look + 1)
  for _, lane in ipairs(lanes) do
    if #seqs < look then readLane(route, lane) end
  end
end

local names = routesOf(queue)
sort(names, isBefore)
for _, route in ipairs(names) do
  -- Of a route whose jobs were all due before there is nothing to read.
  local latestDue = tonumber(call('ZSCORE', key('ready:latest-due'), route)) or -math.huge
  if #seqs < look and latestDue >= from and not isBefore(route, lastRoute) then readRoute(route) end
end
local found = {}
for i, row in ipairs(fetch('HMGET', 'jobs', seqs)) do
  local due = decodeRow(row).due
  if due and due >= from and due < till and isOf(row, tenant, kind) then
    insert(found, seqs[i])
    insert(found, int(due))
  end
end
return { #seqs, place, found }
