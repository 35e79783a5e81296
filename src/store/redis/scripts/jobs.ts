// A job coming and going, with everything that belongs to it.

/** Of a job that goes, so much history goes at once; what is beyond is left to pruning. */
export const HISTORY_BITE = 1_000

export const jobs = String.raw`
local fields = {}
local function set(name, field, value) push(fields, name, field, value) end

local function flushJobs()
  for name, list in pairs(fields) do batch('HSET', P .. name, list) end
  fields = {}
  flushPlaces()
end

-- The cold part of a job as cold.ts writes it.
local COLD = '^%d+%z([^%z]*)%z([^%z]*)%z([^%z]*)%z'

local function indexCold(seq, tenant, cold)
  local _, series, app = match(cold, COLD)
  add('tj:' .. tenant, seq, seq)
  if series ~= '-' then add('sj:' .. series, seq, seq) end
  if app ~= '-' then add('aj:' .. app, seq, seq) end
end

local function unindexCold(seq, tenant, cold)
  local _, series, app = match(cold, COLD)
  call('ZREM', P .. 'tj:' .. tenant, seq)
  if series ~= '-' then call('ZREM', P .. 'sj:' .. series, seq) end
  if app ~= '-' then call('ZREM', P .. 'aj:' .. app, seq) end
end

local function addJob(id, row, lease, cold)
  local seq = pad(call('INCR', P .. 'seq'))
  local h = head(row)
  set('ids', id, seq)
  set('jobs', seq, row)
  set('specs', seq, cold)
  add('all', seq, seq)
  indexCold(seq, h.tenant, cold)
  if lease ~= '' then
    set('leases', seq, lease)
    add('ends', match(lease, '([^%z]*)$'), seq)
  else
    place(seq, h)
  end
  call('SADD', P .. 'lines', h.queue .. Z .. h.handler)
  tallyHead(h, h.state, 1)
  return seq
end

local function isFull(row, waitingMax)
  if not waitingMax then return false end
  local h = head(row)
  return h.state == '0' and waitingOf(h.queue) >= waitingMax
end

local function dropLog(seq, attempt)
  if call('SREM', P .. 'lg:' .. seq, attempt) == 1 then
    call('UNLINK', P .. 'log:' .. attempt)
  end
end

local ATTEMPT = '^(%-?%d+)%z(%-?%d+)%z(%d+)%z([^%z]*)%z'

local function forget(seq, text)
  local _, _, number, id = match(text, ATTEMPT)
  call('ZREM', P .. 'ah', id .. Z .. seq .. Z .. number)
  call('ZREM', P .. 'ax', seq .. Z .. number)
end

-- A bite of what a job that is gone left behind; says whether it was the last one.
local function clearHistory(seq, count)
  local past, skips, logs = P .. 'h:' .. seq, P .. 'sk:' .. seq, P .. 'lg:' .. seq
  local list = call('ZPOPMIN', past, count)
  for i = 1, #list, 2 do forget(seq, list[i]) end
  local spans = call('ZPOPMIN', skips, count)
  for i = 1, #spans, 2 do call('ZREM', P .. 'sx', seq .. Z .. int(spans[i + 1])) end
  local attempts = call('SPOP', logs, count)
  for i = 1, #attempts do call('UNLINK', P .. 'log:' .. attempts[i]) end
  return call('EXISTS', past, skips, logs) == 0
end

local function removeJob(seq, h, cold, lease)
  local id = match(cold, COLD)
  call('HDEL', P .. 'ids', id)
  if lease then
    call('HDEL', P .. 'leases', seq)
    call('ZREM', P .. 'ends', seq)
  else
    unplace(seq, h)
  end
  call('ZREM', P .. 'all', seq)
  unindexCold(seq, h.tenant, cold)
  call('HDEL', P .. 'jobs', seq)
  call('HDEL', P .. 'specs', seq)
  call('HDEL', P .. 'progress', seq)
  tallyHead(h, lease and '1' or h.state, -1)
  if not clearHistory(seq, ${HISTORY_BITE}) then call('SADD', P .. 'trash', seq) end
end
`
