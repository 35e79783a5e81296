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
  local _, series, app = match(cold or '', COLD)
  call('ZREM', P .. 'tj:' .. tenant, seq)
  if not series then return end
  if series ~= '-' then call('ZREM', P .. 'sj:' .. series, seq) end
  if app ~= '-' then call('ZREM', P .. 'aj:' .. app, seq) end
end

local seenLines = {}
local function seeLine(line)
  if seenLines[line] then return end
  seenLines[line] = true
  call('SADD', P .. 'lines', line)
end

local function addJob(id, seq, row, lease, cold)
  local h = head(row)
  set('ids', id, seq)
  set('jobs', seq, row)
  set('specs', seq, cold)
  add('all', seq, seq)
  indexCold(seq, h.tenant, cold)
  enlist(seq, h, lease ~= '')
  if lease ~= '' then
    local l = leaseOf(lease)
    set('leases', seq, lease)
    beginLease(l.token, l.till, { seq })
  else
    place(seq, h)
  end
  seeLine(h.queue .. Z .. h.handler)
  tallyHead(h, h.state, 1)
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

-- An attempt as attempt.ts writes it, up to its expiry.
local ATTEMPT = '^(%d+)%z([^%z]*)%z(%-?%d+)%z(%-?%d+)%z'

local function dropText(seq, number, text)
  local _, id = match(text, ATTEMPT)
  call('HDEL', P .. 'h', seq .. ':' .. number)
  call('ZREM', P .. 'ah', id .. Z .. seq .. Z .. number)
  call('ZREM', P .. 'ax', seq .. Z .. number)
  dropLog(seq, id)
end

-- Numbers of attempts that may be there: from the first one kept to the last one given.
local function numbersOf(seq, h, lease)
  local low, high = tonumber(call('HGET', P .. 'lo', seq) or 1), tonumber(h.attempts)
  if lease and leaseOf(lease).flag == 'c' then high = high + 1 end
  return low, max(high, tonumber(call('HGET', P .. 'hi', seq) or 0))
end

local function textsOf(seq, from, to)
  local names, step = {}, from <= to and 1 or -1
  for number = from, to, step do names[#names + 1] = seq .. ':' .. int(number) end
  return fetch('HMGET', P .. 'h', names)
end

-- A bite of what a job that is gone left behind; answers with the number to go on from.
local function clearHistory(seq, low, high, count)
  local last = min(high, low + count - 1)
  for i, text in ipairs(textsOf(seq, low, last)) do
    if text then dropText(seq, int(low + i - 1), text) end
  end
  local skips, logs = P .. 'sk:' .. seq, P .. 'lg:' .. seq
  local spans = call('ZPOPMIN', skips, count)
  for i = 2, #spans, 2 do call('ZREM', P .. 'sx', seq .. Z .. int(spans[i])) end
  local attempts = call('SPOP', logs, count)
  for i = 1, #attempts do call('UNLINK', P .. 'log:' .. attempts[i]) end
  if last < high or call('EXISTS', skips, logs) > 0 then return last + 1 end
  call('HDEL', P .. 'lo', seq)
  call('HDEL', P .. 'hi', seq)
  return nil
end

-- Out of every index a job may be in whose row tells nothing; answers with what they told of it.
local function scrub(seq)
  local told = { kind = '1', state = '3' }
  for _, mark in ipairs(MARKS) do
    if call('ZREM', P .. 'mj:' .. mark, seq) == 1 then
      told.kind, told.state = '0', (mark == LIVE or mark == UNSTARTED) and '0' or mark
    end
  end
  for _, tenant in ipairs(call('ZRANGE', P .. 'tenants', 0, -1)) do
    if call('ZREM', P .. 'tj:' .. tenant, seq) == 1 then told.tenant = tenant end
    for _, mark in ipairs(MARKS) do call('ZREM', P .. 'mj:' .. mark .. ':' .. tenant, seq) end
  end
  local function standsIn(line)
    told.queue, told.handler = match(line, '^([^%z]*)%z(.*)$')
    if told.kind == '1' then told.state = '0' end
  end
  for _, line in ipairs(call('SMEMBERS', P .. 'lines')) do
    if call('ZREM', P .. 'timed:' .. line, seq) == 1 then standsIn(line) end
    for _, lane in ipairs(call('ZRANGE', P .. 'ring:' .. line, 0, -1)) do
      local key = P .. 'ready:' .. line .. Z .. lane
      if call('ZREM', key, seq) == 1 then
        standsIn(line)
        leaveLane(line, lane, key)
      end
    end
    local queue = match(line, '^([^%z]*)')
    call('ZREM', P .. 'exp:0:' .. queue, seq)
    call('ZREM', P .. 'exp:1:' .. queue, seq)
  end
  call('ZREM', P .. 'pauses', seq)
  call('ZREM', P .. 'all', seq)
  local lease = call('HGET', P .. 'leases', seq)
  if lease then
    call('HDEL', P .. 'leases', seq)
    told.state = '1'
    local token = leaseOf(lease).token
    if token then endLease(token, 1) end
  end
  return told
end

-- One job less, as far as it is known where it was counted.
local function untally(told)
  if not (told.tenant and told.queue and told.handler) then return end
  tally(told.tenant, told.queue .. Z .. told.handler, told.queue, told.kind, told.state, -1)
end

local function removeDamaged(seq, id, cold)
  local told = scrub(seq)
  untally(told)
  if told.tenant then unindexCold(seq, told.tenant, cold) end
  call('HDEL', P .. 'ids', id)
  for _, name in ipairs({ 'jobs', 'specs', 'progress' }) do call('HDEL', P .. name, seq) end
  local high = tonumber(call('HGET', P .. 'hi', seq) or 0)
  if high > 0 then call('HSET', P .. 'trash', seq, '1:' .. int(high)) end
end

local function removeJob(seq, h, cold, lease)
  local id = match(cold or '', COLD)
  if id then call('HDEL', P .. 'ids', id) end
  if lease then
    call('HDEL', P .. 'leases', seq)
    endLease(leaseOf(lease).token, 1)
  else
    unplace(seq, h)
  end
  call('ZREM', P .. 'all', seq)
  unindexCold(seq, h.tenant, cold)
  delist(seq, h, lease)
  call('HDEL', P .. 'jobs', seq)
  call('HDEL', P .. 'specs', seq)
  call('HDEL', P .. 'progress', seq)
  tallyHead(h, lease and '1' or h.state, -1)
  local low, high = numbersOf(seq, h, lease)
  local left = clearHistory(seq, low, high, ${HISTORY_BITE})
  if left then call('HSET', P .. 'trash', seq, int(left) .. ':' .. int(high)) end
end
`
