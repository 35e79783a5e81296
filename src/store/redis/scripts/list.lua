-- Jobs along indexes in the order of creation, in one direction from a mark: so many are looked at,
-- so many that fit are left out, so many are answered. Ends with how far it came, whether that was
-- the end, how many are still to be left out, and how many were found.

-- @include replies

local isNewest, mark = takeFlag(), take()
local look, skip, limit = takeNumber(), takeNumber(), takeNumber()
local isExact, isAnswered = takeFlag(), takeFlag()
local states, unstarted, kind = take(), take(), take()
local tenant, queue, handler = take(), take(), take()
local indexes, lists = {}, {}
for i = 1, takeNumber() do indexes[i] = key(take()) end

local function isAfter(a, b)
  if isNewest then return a < b end
  return a > b
end

-- The first of several lists, in their common order. Behind a list that was cut there may be more
-- of it, so nothing is taken from the others there.
local function merge()
  local merged, positions, isEnd = {}, {}, true
  for i = 1, #lists do positions[i] = 1 end
  while #merged < look do
    local best, from
    for i, list in ipairs(lists) do
      local seq = list[positions[i]]
      if seq and (not best or isAfter(best, seq)) then best, from = seq, i end
    end
    if not best then break end
    positions[from] = positions[from] + 1
    if merged[#merged] ~= best then merged[#merged + 1] = best end
    if positions[from] > look then break end
  end
  for i, list in ipairs(lists) do
    if positions[i] <= #list or #list == look then isEnd = false end
  end
  return merged, isEnd
end

local function rangeOf(index)
  if isNewest then
    local from = mark == '' and '+inf' or '(' .. mark
    return call('ZREVRANGEBYSCORE', index, from, '-inf', 'LIMIT', 0, look)
  end
  local from = mark == '' and '-inf' or '(' .. mark
  return call('ZRANGEBYSCORE', index, from, '+inf', 'LIMIT', 0, look)
end

-- How many of all indexes lie from the mark up to a number.
local function countTo(number)
  local n, bound = 0, mark == '' and (isNewest and '+inf' or '-inf') or '(' .. mark
  for _, index in ipairs(indexes) do
    n = n + (isNewest and call('ZCOUNT', index, int(number), bound)
      or call('ZCOUNT', index, bound, int(number)))
  end
  return n
end

-- Where everything fits, what is left out need not be read: the number it ends with is found by
-- halving. Nothing if there are not so many.
local function numberBehind(n)
  local last = tonumber(call('GET', key('sequence'))) or 0
  local enough, few = isNewest and 0 or last, isNewest and last + 1 or 0
  if countTo(enough) < n then return nil end
  while math.abs(enough - few) > 1 do
    local middle = floor((enough + few) / 2)
    if countTo(middle) >= n then enough = middle else few = middle end
  end
  return string.format('%012.0f', enough)
end

-- A damaged row is answered, so that it can be set aside.
local function isFit(row, isHeld)
  local h = decodeRow(row)
  if h == DAMAGED then return true end
  local state = isHeld and RUNNING or h.state
  if states ~= '-' and not find(states, int(state), 1, true) then return false end
  if kind ~= '' and tonumber(kind) ~= h.kind then return false end
  if not (isWanted(tenant, h.tenant) and isWanted(queue, h.queue) and isWanted(handler, h.handler)) then
    return false
  end
  return unstarted == '' or state ~= WAITING or h.isUnstarted == (unstarted == '1')
end

if isExact and skip > 0 then
  mark = numberBehind(skip)
  if not mark then return { '', '1', '0', 0 } end
  skip = 0
end
for i, index in ipairs(indexes) do lists[i] = rangeOf(index) end
local given = takeRest()
if #given > 0 then lists[#lists + 1] = given end
local list, isEnd = merge()
local rows = isExact and {} or fetch('HMGET', 'jobs', list)
local leases = isExact and {} or fetch('HMGET', 'leases', list)
local found, last, seen = {}, mark, 0
for i, seq in ipairs(list) do
  seen, last = i, seq
  local row = rows[i]
  if not row and not isExact and call('HEXISTS', key('definitions'), seq) == 1 then row = '' end
  if isExact or (row and isFit(row, leases[i])) then
    if skip > 0 then
      skip = skip - 1
    else
      found[#found + 1] = seq
      if #found == limit then break end
    end
  end
end
isEnd = isEnd and seen == #list
return addJobs({ last, isEnd and '1' or '0', int(skip), #found }, isAnswered and found or {})
