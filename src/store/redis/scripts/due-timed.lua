-- Some of what is timed, from a time on, behind the first so many of that time in each route.
-- Answers whether that was all, how many were looked at, the time it came to, how many of that each
-- route gave, and what fits.

-- @include places
-- @include routes

-- Of each route at least so many at a time, however many routes there are.
local CHUNK_MIN = 4

local from, till, tenant, kind, queue = take(), take(), take(), take(), take()
local look = takeNumber()
local skips = {}
for _ = 1, takeNumber() do
  local route = take()
  skips[route] = takeNumber()
end
local function isSoonerThan(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.seq < b.seq
end
local names, all, cut = routesOf(queue), {}, nil
local chunk = max(CHUNK_MIN, ceil(look / max(1, #names)))
for _, route in ipairs(names) do
  local list = call('ZRANGEBYSCORE', key(timedKey(route)), from, '(' .. till, 'WITHSCORES',
    'LIMIT', skips[route] or 0, chunk)
  for i = 1, #list, 2 do
    all[#all + 1] = { seq = list[i], due = tonumber(list[i + 1]), route = route }
  end
  -- Behind it there may be more of this route, before what the others have there.
  if #list == 2 * chunk and (not cut or isSoonerThan(all[#all], cut)) then cut = all[#all] end
end
if #all == 0 then return { '1', 0, from, {}, {} } end
sort(all, isSoonerThan)
while cut and isSoonerThan(cut, all[#all]) do all[#all] = nil end
local last, seqs = all[#all].due, {}
if last ~= tonumber(from) then skips = {} end
for i, entry in ipairs(all) do
  seqs[i] = entry.seq
  if entry.due == last then skips[entry.route] = (skips[entry.route] or 0) + 1 end
end
local passed, found = {}, {}
for route, skip in pairs(skips) do
  insert(passed, route)
  insert(passed, int(skip))
end
local isAny = tenant == '-' and kind == ''
local rows = isAny and {} or fetch('HMGET', 'jobs', seqs)
for i, entry in ipairs(all) do
  if isAny or isOf(rows[i], tenant, kind) then
    insert(found, entry.seq)
    insert(found, int(entry.due))
  end
end
return { cut and '0' or '1', #all, int(last), passed, found }
