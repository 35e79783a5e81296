// A walk along indexes in the order of creation, in one direction from a mark: so many are looked
// at, so many that fit are left out, so many are told.

import { LAYOUT, UNLISTED_LAYOUT } from '../check.ts'
import { base } from './base.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { reading } from './reads.ts'

const walking = String.raw`
local function isAfter(a, b)
  if isNewest then return a < b end
  return a > b
end

-- The first of several lists, in their common order. Behind a list that was cut there may be more
-- of it, so nothing is taken from the others there.
local function merge(lists)
  local merged, places, isEnd = {}, {}, true
  for i = 1, #lists do places[i] = 1 end
  while #merged < look do
    local best, from
    for i, list in ipairs(lists) do
      local seq = list[places[i]]
      if seq and (not best or isAfter(best, seq)) then best, from = seq, i end
    end
    if not best then break end
    places[from] = places[from] + 1
    if merged[#merged] ~= best then merged[#merged + 1] = best end
    if places[from] > look then break end
  end
  for i, list in ipairs(lists) do
    if places[i] <= #list or #list == look then isEnd = false end
  end
  return merged, isEnd
end

local function rangeOf(index)
  if isNewest then
    local from = mark == '' and '+inf' or '(' .. mark
    return call('ZREVRANGEBYSCORE', index, from, '-inf', 'LIMIT', 0, look)
  end
  return call('ZRANGEBYSCORE', index, mark == '' and '-inf' or '(' .. mark, '+inf', 'LIMIT', 0, look)
end

-- How many of all indexes lie from the mark up to a number.
local function countTo(number)
  local count, bound = 0, mark == '' and (isNewest and '+inf' or '-inf') or '(' .. mark
  for _, index in ipairs(indexes) do
    count = count + (isNewest and call('ZCOUNT', index, int(number), bound)
      or call('ZCOUNT', index, bound, int(number)))
  end
  return count
end

-- Where everything fits, what is left out need not be read: halves until the number is found it
-- ends with. Nothing if there are not so many.
local function leaveOut(count)
  local last = tonumber(call('GET', P .. 'seq') or 0)
  local enough, few = isNewest and 0 or last, isNewest and last + 1 or 0
  if countTo(enough) < count then return nil end
  while math.abs(enough - few) > 1 do
    local middle = floor((enough + few) / 2)
    if countTo(middle) >= count then enough = middle else few = middle end
  end
  return pad(enough)
end
`

const fitting = String.raw`
local ROW = '^%d+%z%d+%z(%d)%z(%d)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z'
local function is(wanted, value) return wanted == '-' or sub(wanted, 2) == value end

local function fits(row, isHeld)
  local s, k, t, q, h = match(row, ROW)
  -- A damaged row is told, so that it can be set aside.
  if not s then return true end
  if isHeld then s = '1' end
  if states ~= '-' and not find(states, s, 1, true) then return false end
  if kind ~= '' and kind ~= k then return false end
  if not (is(tenant, t) and is(queue, q) and is(handler, h)) then return false end
  if unstarted == '' or s ~= '0' then return true end
  return (match(row, '%z%[(%d),[^%z]*$') == '0') == (unstarted == '1')
end
`

/** Ends with how far it came, whether there is more, how many are still to be left out. */
export const listScript = [
  reading,
  String.raw`
local isNewest, mark = take() == '1', take()
local look, skip, limit = takeNumber(), takeNumber(), takeNumber()
local isExact, isTold = take() == '1', take() == '1'
local states, unstarted, kind, tenant, queue, handler =
  take(), take(), take(), take(), take(), take()
local indexes, lists = {}, {}
for i = 1, takeNumber() do indexes[i] = P .. take() end
`,
  walking,
  fitting,
  String.raw`
if isExact and skip > 0 then
  mark = leaveOut(skip)
  if not mark then return { '', '1', '0', 0 } end
  skip = 0
end
for i, index in ipairs(indexes) do lists[i] = rangeOf(index) end
local given = { unpack(ARGV, at + 1) }
if #given > 0 then lists[#lists + 1] = given end
local list, isEnd = merge(lists)
local rows = isExact and {} or fetch('HMGET', P .. 'jobs', list)
local leases = isExact and {} or fetch('HMGET', P .. 'leases', list)
local found, last, seen = {}, mark, 0
for i, seq in ipairs(list) do
  seen, last = i, seq
  local row = rows[i]
  if not row and not isExact and call('HEXISTS', P .. 'specs', seq) == 1 then row = '' end
  if isExact or (row and fits(row, leases[i])) then
    if skip > 0 then
      skip = skip - 1
    else
      found[#found + 1] = seq
      if #found == limit then break end
    end
  end
end
isEnd = isEnd and seen == #list
return tell(isTold and found or {}, { last, isEnd and '1' or '0', int(skip), #found })
`,
].join('\n')

/**
 * Jobs of before there were marks, so many at a time; answers with 1 when all have theirs. Whoever
 * writes keeps the marks of what they write from the first time this was run.
 */
export const listOldScript = [
  base,
  places,
  listed,
  String.raw`
local meta, look = P .. 'meta', takeNumber()
if call('HGET', meta, 'layout') == '${UNLISTED_LAYOUT}' then
  call('HSET', meta, 'layout', '${LAYOUT}', 'unlisted', '0')
end
local mark = call('HGET', meta, 'unlisted')
if not mark then return 1 end
local list = call('ZRANGEBYSCORE', P .. 'all', '(' .. mark, '+inf', 'LIMIT', 0, look)
local rows, leases = fetch('HMGET', P .. 'jobs', list), fetch('HMGET', P .. 'leases', list)
for i, seq in ipairs(list) do
  if rows[i] then enlist(seq, head(rows[i]), leases[i]) end
end
flushPlaces()
if #list == look then
  call('HSET', meta, 'unlisted', list[#list])
  return 0
end
call('HDEL', meta, 'unlisted')
return 1
`,
].join('\n')
