// Waiting jobs by due moment, as numbers with their moments. Timed ones lie in that order, line by
// line; ready ones do not, so a bounded number of them is looked at.

import { base } from './base.ts'

const asking = String.raw`
local function linesOf(queue)
  local names = {}
  for _, line in ipairs(call('SMEMBERS', P .. 'lines')) do
    if queue == '-' or '=' .. match(line, '^([^%z]*)') == queue then names[#names + 1] = line end
  end
  return names
end

local ROW = '^%d+%z%d+%z%d%z(%d)%z([^%z]*)%z[^%z]*%z[^%z]*%z[^%z]*%z.%z(%-?%d*)%z'

local function isOf(row, tenant, kind)
  local held, of = match(row or '', ROW)
  return held and (tenant == '-' or tenant == '=' .. of) and (kind == '' or kind == held)
end
`

/** Numbers of what is ready, as many of each line as of the others; nothing that was due before. */
export const readyScript = [
  base,
  asking,
  String.raw`
local from, queue, look = takeNumber(), take(), takeNumber()
local names, seqs = linesOf(queue), {}
local share = ceil(look / max(1, #names))
for _, line in ipairs(names) do
  local room = tonumber(call('ZSCORE', P .. 'marks', line) or '-inf') >= from and share or 0
  local lanes = room > 0 and call('ZRANGE', P .. 'ring:' .. line, 0, room - 1) or {}
  for _, lane in ipairs(lanes) do
    local list = call('ZRANGE', P .. 'ready:' .. line .. Z .. lane, 0, room - 1)
    for i = 1, #list do seqs[#seqs + 1] = list[i] end
    room = room - #list
    if room <= 0 then break end
  end
end
return seqs
`,
].join('\n')

/** Of the given numbers, those due within the moments, with theirs. */
export const dueScript = [
  base,
  asking,
  String.raw`
local from, till, tenant, kind = takeNumber(), takeNumber(), take(), take()
local seqs, reply = { unpack(ARGV, at + 1) }, {}
for i, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do
  local _, _, due = match(row or '', ROW)
  local moment = tonumber(due)
  if moment and moment >= from and moment < till and isOf(row, tenant, kind) then
    insert(reply, seqs[i])
    insert(reply, due)
  end
end
return reply
`,
].join('\n')

/** Of each line at least so many at a time, however many lines there are. */
const CHUNK_MIN = 4

/**
 * A bite of what is timed, from a moment on, behind the first so many of that moment in each line.
 * Answers whether that was all, how many were looked at, the moment it came to, how many of that each
 * line gave, and what fits.
 */
export const timedScript = [
  base,
  asking,
  String.raw`
local from, till, tenant, kind, queue = take(), take(), take(), take(), take()
local look = takeNumber()
local skips = {}
for _ = 1, takeNumber() do
  local line = take()
  skips[line] = takeNumber()
end
local function isBefore(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.seq < b.seq
end
local names, all, cut, given = linesOf(queue), {}, nil, 0
local chunk = max(${CHUNK_MIN}, ceil(look / max(1, #names)))
for _, line in ipairs(names) do
  local list = call('ZRANGEBYSCORE', P .. 'timed:' .. line, from, '(' .. till, 'WITHSCORES',
    'LIMIT', skips[line] or 0, chunk)
  for i = 1, #list, 2 do
    all[#all + 1] = { seq = list[i], due = tonumber(list[i + 1]), line = line }
  end
  if #list > 0 then given = given + 1 end
  -- Behind it there may be more of this line, before what the others have there.
  if #list == 2 * chunk and (not cut or isBefore(all[#all], cut)) then cut = all[#all] end
end
if #all == 0 then return { '1', 0, from, {}, {} } end
-- One line is in order by itself.
if given > 1 then sort(all, isBefore) end
while cut and isBefore(cut, all[#all]) do all[#all] = nil end
local last, seqs = all[#all].due, {}
if last ~= tonumber(from) then skips = {} end
for i, entry in ipairs(all) do
  seqs[i] = entry.seq
  if entry.due == last then skips[entry.line] = (skips[entry.line] or 0) + 1 end
end
local passed, found = {}, {}
for line, skip in pairs(skips) do
  insert(passed, line)
  insert(passed, int(skip))
end
local isAny = tenant == '-' and kind == ''
local rows = isAny and {} or fetch('HMGET', P .. 'jobs', seqs)
for i, entry in ipairs(all) do
  if isAny or isOf(rows[i], tenant, kind) then
    insert(found, entry.seq)
    insert(found, int(entry.due))
  end
end
return { cut and '0' or '1', #all, int(last), passed, found }
`,
].join('\n')
