-- Timed jobs due within the times, the earliest first, from a place on: a time, and how many of that
-- time each route gave before. Answers how many were looked at, the next place, empty at the end, and
-- what fits.

-- @include places
-- @include routes

-- Of each route at least so many at a time, however many routes there are.
local CHUNK_MIN = 4

local from, till, tenant, kind, queue = take(), take(), take(), take(), take()
local look, skips = takeNumber(), {}
from = take() or from
while at < #ARGV do
  local route = take()
  skips[route] = takeNumber()
end
local names, all, cut = routesOf(queue), {}, nil
local chunk = max(CHUNK_MIN, ceil(look / max(1, #names)))
for _, route in ipairs(names) do
  local list = call('ZRANGEBYSCORE', key(timedKey(route)), from, '(' .. till, 'WITHSCORES',
    'LIMIT', skips[route] or 0, chunk)
  for i = 1, #list, 2 do
    all[#all + 1] = { seq = list[i], time = tonumber(list[i + 1]), route = route }
  end
  -- Behind it there may be more of this route, before what the others have there.
  if #list == 2 * chunk and (not cut or isEarlier(all[#all], cut)) then cut = all[#all] end
end
if #all == 0 then return { 0, {}, {} } end
sort(all, isEarlier)
while cut and isEarlier(cut, all[#all]) do all[#all] = nil end
local last, seqs = all[#all].time, {}
if last ~= tonumber(from) then skips = {} end
for i, entry in ipairs(all) do
  seqs[i] = entry.seq
  if entry.time == last then skips[entry.route] = (skips[entry.route] or 0) + 1 end
end
local place, found = { int(last) }, {}
for route, skip in pairs(skips) do
  insert(place, route)
  insert(place, int(skip))
end
local isAny = tenant == '-' and kind == ''
local rows = isAny and {} or fetch('HMGET', 'jobs', seqs)
for i, entry in ipairs(all) do
  if isAny or isOf(rows[i], tenant, kind) then
    insert(found, entry.seq)
    insert(found, int(entry.time))
  end
end
return { #all, cut and place or {}, found }
