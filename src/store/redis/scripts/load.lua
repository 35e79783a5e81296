-- Entries of another store, written as they are. If one of them is there already, or belongs to a job
-- that is not there, nothing is written, and it is answered what is there for each: its texts, false
-- for nothing, 0 for one without its job.

-- @include jobs
-- @include records

local WIDTHS = {
  queue = 3, job = 3, attempt = 2, skip = 4, progress = 2, log = 4, pruned = 3, record = 4,
}
local OWNED = { attempt = true, skip = true, progress = true, log = true }
local OWNERLESS = 0

local sender, now = take(), takeNumber()
local entries, coming = {}, {}
-- What is there where an entry belongs, and how it is written: by type, with the number of its job.
local stored, write = {}, {}

local function seqOf(id) return call('HGET', key('ids'), id) end

stored.queue = function(_, queue)
  local isPaused = call('SISMEMBER', key('queues:paused'), queue)
  local lane = call('HGET', key('queues:turn'), queue)
  return (isPaused == 1 or lane) and { queue, tostring(isPaused), lane or '' }
end

write.queue = function(_, queue, isPaused, lane)
  if isPaused == '1' then call('SADD', key('queues:paused'), queue) end
  if lane ~= '' then call('HSET', key('queues:turn'), queue, lane) end
end

stored.job = function(_, row)
  local seq, texts = seqOf(decodeRow(row).id), {}
  if not seq then return false end
  for i, name in ipairs({ 'jobs', 'definitions', 'leases' }) do
    texts[i] = call('HGET', key(name), seq) or ''
  end
  return texts
end

write.job = function(_, row, definition, lease)
  addJob(nextSequence(), { row = row, definition = definition, lease = lease }, decodeRow(row), now)
end

-- Under its number, or under its id.
stored.attempt = function(seq, job, text)
  local attempt = decodeAttempt(text)
  local held = call('HGET', key('attempts'), attemptField(seq, attempt.number))
  if held then return { job, held } end
  local name = call('ZRANGEBYLEX', key('attempts:by-id'), '[' .. attempt.id .. NUL,
    '(' .. attempt.id .. '\1', 'LIMIT', 0, 1)[1]
  if not name then return false end
  local other, number = match(name, '%z(%d+)%z(%d+)$')
  held = call('HGET', key('attempts'), attemptField(other, number))
  return held and { storedRow(other).id, held }
end

write.attempt = function(seq, _, text)
  local attempt = decodeAttempt(text)
  addAttempt(seq, storedRow(seq), attempt, text)
  local low = tonumber(call('HGET', key('attempts:first'), seq))
  if not low or attempt.number < low then call('HSET', key('attempts:first'), seq, attempt.number) end
end

stored.skip = function(seq, job, from)
  local text = call('ZRANGEBYSCORE', key(skipsKey(seq)), from, from)[1]
  if not text then return false end
  return { job, from, call('ZSCORE', key('skips:by-expiry'), seq .. NUL .. from) or '', text }
end

write.skip = function(seq, _, from, expire, text) addSkip(seq, from, expire, text) end

stored.progress = function(seq, job)
  local text = call('HGET', key('progress'), seq)
  return text and { job, text }
end

write.progress = function(seq, _, text) call('HSET', key('progress'), seq, text) end

stored.log = function(_, job, attempt, n)
  local text = call('LINDEX', key(logKey(attempt)), n)
  return text and { job, attempt, n, text }
end

write.log = function(seq, _, attempt, _, text)
  call('SADD', key(logNamesKey(seq)), attempt)
  call('RPUSH', key(logKey(attempt)), text)
end

stored.pruned = function(_, tenant, field)
  local n = call('HGET', key('pruned:by-tenant:' .. tenant), field)
  return n and { tenant, field, n }
end

write.pruned = function(_, tenant, field, n)
  call('HINCRBY', key('pruned'), field, n)
  call('HSET', key('pruned:by-tenant:' .. tenant), field, n)
  call('ZADD', key('pruned:tenants'), 0, tenant)
end

stored.record = function(_, kind, name)
  local text = call('HGET', key(recordsKey(kind)), name)
  return text and { kind, name, '', text }
end

write.record = function(_, kind, name, expire, text) storeRecord(kind, name, expire, text) end

while at < #ARGV do
  local entry = { type = take() }
  for i = 1, WIDTHS[entry.type] do entry[i] = take() end
  insert(entries, entry)
  if entry.type == 'job' then coming[decodeRow(entry[1]).id] = true end
end

local reply, isRefused = {}, false
for i, entry in ipairs(entries) do
  local seq = OWNED[entry.type] and seqOf(entry[1])
  if seq or not OWNED[entry.type] then
    reply[i] = stored[entry.type](seq, unpack(entry))
  else
    reply[i] = not coming[entry[1]] and OWNERLESS
  end
  isRefused = isRefused or reply[i] ~= false
end
if isRefused then return reply end
for i, entry in ipairs(entries) do
  -- What belongs to a job is written when the job is.
  if i > 1 and entries[i - 1].type ~= entry.type then flush() end
  write[entry.type](OWNED[entry.type] and seqOf(entry[1]), unpack(entry))
end
flush()
flushCounts()
wake(sender)
return {}
