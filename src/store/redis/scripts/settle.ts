// The usual end of attempts: the leases are checked all at once, and if every one still holds, rows,
// attempts and places are written, each kind with one command. If one does not, nothing is.

/** Between pieces of one word. No JSON holds it, nor what keys are encoded with. */
export const GLUE = '\u0003'
/** In place of an attempt's number and id. */
export const NO_ATTEMPT = '-'

export const settling = String.raw`
-- One long word costs less to read than many short ones. An empty piece is the one before it.
local function pieces(word)
  local list, n, from, last = {}, 0, 1, ''
  while true do
    local to = find(word, '${GLUE}', from, true) or #word + 1
    n = n + 1
    if to > from then last = sub(word, from, to - 1) end
    list[n] = last
    if to > #word then return list end
    from = to + 1
  end
end

local function holdAll(seqs, fences)
  local leases = fetch('HMGET', P .. 'leases', seqs)
  for i = 1, #seqs do
    if not leases[i] or find(leases[i], fences[i], 1, true) ~= 1 then return false end
  end
  return true
end

local function writeRows(seqs, rows, heads, tails)
  local hash, past, index, n = {}, {}, {}, 0
  for i = 1, #seqs do
    local seq, head = seqs[i], heads[i]
    hash[2 * i - 1] = seq
    hash[2 * i] = rows[i]
    if head ~= '${NO_ATTEMPT}' then
      local number, id = match(head, '^(%d+)%z(.*)')
      past[n + 1] = seq .. ':' .. number
      past[n + 2] = head .. tails[i]
      index[n + 1] = 0
      index[n + 2] = id .. Z .. seq .. Z .. number
      n = n + 2
    end
  end
  batch('HSET', P .. 'jobs', hash)
  batch('HSET', P .. 'h', past)
  batch('ZADD', P .. 'ah', index)
end

-- Scores of a group, one for all or one for each, beside its numbers.
local function scored(seqs, from, count)
  local shared, list = take(), {}
  for i = 1, count do
    list[2 * i - 1] = shared ~= '' and shared or take()
    list[2 * i] = seqs[from + i]
  end
  return list
end

-- What a group of jobs, which lie one behind the other, comes to.
local ends = {
  kept = function(seqs, from, count)
    local list = {}
    for i = 1, count do
      list[2 * i - 1] = seqs[from + i]
      list[2 * i] = take()
    end
    batch('HSET', P .. 'leases', list)
  end,
  none = function() end,
  set = function(seqs, from, count) batch('ZADD', P .. take(), scored(seqs, from, count)) end,
  -- What ends together is one entry; pruning takes it apart.
  ended = function(seqs, from, count)
    local key, expire = P .. take(), take()
    call('ZADD', key, expire, concat(seqs, ',', from + 1, from + count))
  end,
  timed = function(seqs, from, count)
    local key, list = P .. take(), scored(seqs, from, count)
    if not woke then woke = isSooner(key, list) end
    batch('ZADD', key, list)
  end,
  ready = function(seqs, from, count)
    local line, lane, latest = take(), take(), take()
    local ring = P .. 'ring:' .. line
    if not woke then woke = call('EXISTS', ring) == 0 end
    call('ZADD', ring, 0, lane)
    call('ZADD', P .. 'marks', 'GT', latest, line)
    batch('ZADD', P .. 'ready:' .. line .. Z .. lane, scored(seqs, from, count))
  end,
}

local function writeGroups(seqs)
  local from = 0
  for _ = 1, takeNumber() do
    local kind, clears, count = take(), take() == '1', takeNumber()
    ends[kind](seqs, from, count)
    if kind ~= 'kept' then call('HDEL', P .. 'leases', unpack(seqs, from + 1, from + count)) end
    if clears then call('HDEL', P .. 'progress', unpack(seqs, from + 1, from + count)) end
    from = from + count
  end
end

local function writeRest()
  for _ = 1, takeNumber() do endLease(take(), takeNumber()) end
  for _ = 1, takeNumber() do call('ZADD', P .. 'claims', 'LT', take(), take()) end
  for _ = 1, takeNumber() do call('ZADD', P .. 'ax', take(), take()) end
  for _ = 1, takeNumber() do dropAttempt(take(), take(), takeNumber()) end
  for _ = 1, takeNumber() do
    local tenant, line, queue, kind, state, count = unpack(ARGV, at + 1, at + 6)
    at = at + 6
    tally(tenant, line, queue, kind, '1', -count)
    tally(tenant, line, queue, kind, state, tonumber(count))
  end
  for _ = 1, takeNumber() do
    local mark, tenant, count = take(), take(), takeNumber()
    moveMarked(tenant, LIVE, mark, { unpack(ARGV, at + 1, at + count) })
    at = at + count
  end
end

local function settle()
  local count, size = takeNumber(), takeNumber()
  local last = at + size
  if count == 0 then return true end
  local seqs, fences, rows = pieces(take()), pieces(take()), pieces(take())
  local heads, tails = pieces(take()), pieces(take())
  local isWhole = #seqs == count and #fences == count and #rows == count
    and #heads == count and #tails == count
  local isHeld = isWhole and holdAll(seqs, fences)
  if isHeld then
    writeRows(seqs, rows, heads, tails)
    writeGroups(seqs)
    writeRest()
  end
  at = last
  return isHeld
end
`
