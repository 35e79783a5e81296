// What no script leaves behind: a job that is not where claims look, or stands there although it
// does not wait; a lease without the record it ends by; counts that differ from the rows.

import { base } from './base.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'

const looking = String.raw`
local COLD = '^%d+%z([^%z]*)%z'

-- Where claims would find it, and whether they should.
local function standing(seq, h, lease)
  local line = h.queue .. Z .. h.handler
  local inTime = call('ZSCORE', P .. 'timed:' .. line, seq)
  local inLane = call('ZSCORE', P .. 'ready:' .. line .. Z .. h.lane, seq)
  local waits = not lease and h.state == '0' and h.due ~= ''
  if waits and not inTime and not inLane then return 'unplaced' end
  if not waits and (inTime or inLane) then return 'misplaced' end
  if inTime and inLane then return 'misplaced' end
  if not lease and h.state == '2' and h.held ~= '' and not call('ZSCORE', P .. 'pauses', seq) then
    return 'unplaced'
  end
  return nil
end

local function isRecorded(seq, token)
  local held = call('HGET', P .. 'held', token)
  if not held or not call('ZSCORE', P .. 'claims', token) then return false end
  return find(',' .. held .. ',', ',' .. seq .. ',', 1, true) ~= nil
end

-- All names of lists by mark the job could be in, and whether it should be.
local function eachMark(h, lease, work)
  local own = h.kind == '0' and markOf(h, lease)
  for _, mark in ipairs(MARKS) do
    for _, name in ipairs({ markNames(h.tenant, mark) }) do work(P .. name, mark == own) end
  end
end

local function isListedWell(seq, h, lease)
  if call('HEXISTS', P .. 'meta', 'unlisted') == 1 then return true end
  local isWell = true
  eachMark(h, lease, function(key, isIn)
    if (call('ZSCORE', key, seq) ~= false) ~= isIn then isWell = false end
  end)
  return isWell
end
`

/**
 * Numbers, as many as given; answers with number, id and fault of those that have one, or only with
 * those that are gone.
 */
export const inspectScript = [
  base,
  places,
  listed,
  looking,
  String.raw`
local found = {}
local function tell(seq, fault)
  local cold = call('HGET', P .. 'specs', seq)
  insert(found, seq)
  insert(found, cold and match(cold, COLD) or '')
  insert(found, fault)
end
local isWhole = take() == '1'
for i = 2, #ARGV do
  local seq = ARGV[i]
  local row, lease = call('HGET', P .. 'jobs', seq), call('HGET', P .. 'leases', seq)
  if not row then
    tell(seq, 'gone')
  elseif isWhole then
    local h = head(row)
    local fault = standing(seq, h, lease)
    if fault then tell(seq, fault) end
    if lease and not isRecorded(seq, leaseOf(lease).token) then tell(seq, 'unrecorded') end
    if not isListedWell(seq, h, lease) then tell(seq, 'unlisted') end
  end
end
return found
`,
].join('\n')

/** One number. */
export const mendScript = [
  base,
  places,
  listed,
  looking,
  String.raw`
local seq = take()
local row, lease = call('HGET', P .. 'jobs', seq), call('HGET', P .. 'leases', seq)
if not row then
  call('ZREM', P .. 'all', seq)
  -- Whose it was is not known any more; in the lists of its tenant it is passed over.
  for _, mark in ipairs(MARKS) do
    call('ZREM', P .. 'mj:' .. mark, seq)
  end
  return 1
end
local h = head(row)
if not isListedWell(seq, h, lease) then
  eachMark(h, lease, function(key, isIn)
    if isIn then call('ZADD', key, seq, seq) else call('ZREM', key, seq) end
  end)
end
if standing(seq, h, lease) then
  local line = h.queue .. Z .. h.handler
  local key = P .. 'ready:' .. line .. Z .. h.lane
  call('ZREM', P .. 'timed:' .. line, seq)
  if call('ZREM', key, seq) == 1 then leaveLane(line, h.lane, key) end
  -- When it expires is written elsewhere.
  h.expire = ''
  if not lease then place(seq, h) end
  flushPlaces()
end
if lease then
  local l = leaseOf(lease)
  if not isRecorded(seq, l.token) then beginLease(l.token, l.till, { seq }) end
end
return 1
`,
].join('\n')

const counted = String.raw`
local limit = takeNumber()
if call('HLEN', P .. 'jobs') > limit then return false end
local truth = { tallies = {}, waiting = {} }
local rows, leases = call('HGETALL', P .. 'jobs'), {}
for _, seq in ipairs(call('HKEYS', P .. 'leases')) do leases[seq] = true end
local function bump(key, field)
  if not truth[key] then truth[key] = {} end
  truth[key][field] = (truth[key][field] or 0) + 1
end
for i = 1, #rows, 2 do
  local h = head(rows[i + 1])
  local state = leases[rows[i]] and '1' or h.state
  local field = h.queue .. Z .. h.handler .. Z .. h.kind .. Z .. state
  bump('tallies', field)
  bump('tt:' .. h.tenant, field)
  if state == '0' then bump('waiting', h.queue) end
end
for _, tenant in ipairs(call('ZRANGE', P .. 'tenants', 0, -1)) do
  if not truth['tt:' .. tenant] then truth['tt:' .. tenant] = {} end
end
local wrong = 0
local function each(work)
  for key, fields in pairs(truth) do
    local told, flat = {}, call('HGETALL', P .. key)
    for i = 1, #flat, 2 do told[flat[i]] = tonumber(flat[i + 1]) end
    for field, n in pairs(fields) do
      if told[field] ~= n then work(key, field, n) end
    end
    for field in pairs(told) do
      if not fields[field] then work(key, field, nil) end
    end
  end
end
`

/** How many counts differ; nothing when there are more rows than one script may read. */
export const countedScript = [
  base,
  counted,
  String.raw`
each(function() wrong = wrong + 1 end)
return wrong
`,
].join('\n')

export const recountScript = [
  base,
  counted,
  String.raw`
each(function(key, field, n)
  wrong = wrong + 1
  if n then call('HSET', P .. key, field, n) else call('HDEL', P .. key, field) end
end)
for key in pairs(truth) do
  local tenant = match(key, '^tt:(.*)$')
  if tenant and call('EXISTS', P .. key) == 0 then call('ZREM', P .. 'tenants', tenant) end
  if tenant and call('EXISTS', P .. key) == 1 then call('ZADD', P .. 'tenants', 0, tenant) end
end
return wrong
`,
].join('\n')
