// Questions: each is answered from one moment of the store, and looks at a bounded number.

import { base } from './base.ts'

const answering = String.raw`
-- Number, row and lease of each, one after another.
local function tell(seqs, reply)
  local rows, leases = fetch('HMGET', P .. 'jobs', seqs), fetch('HMGET', P .. 'leases', seqs)
  for i = 1, #seqs do
    local row = rows[i]
    -- A row that is missing while its spec is there is damaged, not gone.
    if not row and call('HEXISTS', P .. 'specs', seqs[i]) == 1 then row = '' end
    if row then
      reply[#reply + 1] = seqs[i]
      reply[#reply + 1] = row
      reply[#reply + 1] = leases[i] or ''
    end
  end
  return reply
end
`

export const reading = [base, answering].join('\n')

export const getScript = [
  reading,
  String.raw`
local seqs = {}
for _, seq in ipairs(fetch('HMGET', P .. 'ids', ARGV)) do
  if seq then seqs[#seqs + 1] = seq end
end
return tell(seqs, {})
`,
].join('\n')

/** By number. */
export const rowsScript = [reading, 'return tell(ARGV, {})'].join('\n')

/** Claims looked at in one go; what is left comes with the next look. */
const CLAIMS_MAX = 100

/**
 * Leases and pauses that ended by the earlier of both clocks. Renewals write only to leases, so
 * records of claims that are behind the truth are put right on the way.
 */
export const overdueScript = [
  reading,
  String.raw`
local now = takeNumber()
if take() == 'server' then now = min(now, serverNow()) end
local limit, late = takeNumber(), {}
local function consider(seq, till)
  if till <= now then late[#late + 1] = { seq = seq, till = till } end
end
local function look(token, told)
  local seqs, least = {}, nil
  for seq in gmatch(call('HGET', P .. 'held', token) or '', '%d+') do seqs[#seqs + 1] = seq end
  for i, text in ipairs(fetch('HMGET', P .. 'leases', seqs)) do
    local lease = text and leaseOf(text)
    if lease and lease.token == token then
      local till = tonumber(lease.till)
      least = min(least or till, till)
      consider(seqs[i], till)
    end
  end
  if not least then
    forgetClaim(token)
  elseif least ~= told then
    call('ZADD', P .. 'claims', int(least), token)
  end
end
local claims =
  call('ZRANGEBYSCORE', P .. 'claims', '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, ${CLAIMS_MAX})
for i = 1, #claims, 2 do look(claims[i], tonumber(claims[i + 1])) end
local pauses =
  call('ZRANGEBYSCORE', P .. 'pauses', '-inf', int(now), 'WITHSCORES', 'LIMIT', 0, limit)
for i = 1, #pauses, 2 do consider(pauses[i], tonumber(pauses[i + 1])) end
sort(late, function(a, b)
  if a.till ~= b.till then return a.till < b.till end
  return a.seq < b.seq
end)
local seqs = {}
for i = 1, min(limit, #late) do seqs[i] = late[i].seq end
return tell(seqs, {})
`,
].join('\n')

/** Of more ready jobs than this the earliest is not sought: that one of them is due says enough. */
const READY_SOUGHT = 64

export const nextDueScript = [
  reading,
  String.raw`
local least
local function consider(due)
  if due and (not least or due < least) then least = due end
end
local isReadySeen = take() == '1'
for _ = 1, takeNumber() do
  local queue = take()
  local line = queue .. Z .. take()
  if call('SISMEMBER', P .. 'paused', queue) == 0 then
    consider(tonumber(call('ZRANGE', P .. 'timed:' .. line, 0, 0, 'WITHSCORES')[2]))
    local seqs = {}
    local lanes = isReadySeen and {} or call('ZRANGE', P .. 'ring:' .. line, 0, ${READY_SOUGHT} - 1)
    for _, lane in ipairs(lanes) do
      local room = ${READY_SOUGHT} - #seqs
      if room <= 0 then break end
      local list = call('ZRANGE', P .. 'ready:' .. line .. Z .. lane, 0, room - 1)
      for i = 1, #list do seqs[#seqs + 1] = list[i] end
    end
    for _, row in ipairs(fetch('HMGET', P .. 'jobs', seqs)) do consider(tonumber(head(row).due)) end
  end
end
return least and int(least) or ''
`,
].join('\n')

/** Records of a kind in the order of keys: key and text, one after another. */
export const listRecordsScript = [
  reading,
  String.raw`
local kind, isNewest, from, look = take(), take() == '1', take(), take()
local list
if isNewest then
  list = call('ZREVRANGEBYLEX', P .. 'rk:' .. kind, from, '-', 'LIMIT', 0, look)
else
  list = call('ZRANGEBYLEX', P .. 'rk:' .. kind, from, '+', 'LIMIT', 0, look)
end
local texts, reply = fetch('HMGET', P .. 'rec:' .. kind, list), {}
for i, key in ipairs(list) do
  reply[#reply + 1] = key
  reply[#reply + 1] = texts[i]
end
return reply
`,
].join('\n')

export const progressScript = [
  reading,
  String.raw`
local seq = call('HGET', P .. 'ids', take())
return seq and call('HGET', P .. 'progress', seq) or ''
`,
].join('\n')

/** Tenants by name with their tallies. */
export const tenantsScript = [
  reading,
  String.raw`
local isNewest, from, skip, limit = take() == '1', take(), take(), take()
local list
if isNewest then
  list = call('ZREVRANGEBYLEX', P .. 'tenants', from, '-', 'LIMIT', skip, limit)
else
  list = call('ZRANGEBYLEX', P .. 'tenants', from, '+', 'LIMIT', skip, limit)
end
local reply = {}
for i, tenant in ipairs(list) do reply[i] = { tenant, call('HGETALL', P .. 'tt:' .. tenant) } end
return reply
`,
].join('\n')

/** Tallies and what was pruned, of all or of one tenant. */
export const countsScript = [
  reading,
  String.raw`
local tenant = take()
if tenant == '-' then return { call('HGETALL', P .. 'tallies'), call('HGETALL', P .. 'pruned') } end
local name = sub(tenant, 2)
return { call('HGETALL', P .. 'tt:' .. name), call('HGETALL', P .. 'tp:' .. name) }
`,
].join('\n')
