// The usual end of attempts: the leases are checked all at once, and if every one still holds, rows,
// attempts and places are written, each kind with one command. If one does not, nothing is.

/** Between pieces of one word. No JSON holds it, nor what keys are encoded with. */
export const GLUE = '\u0003'

export const settling = String.raw`
-- What many short words would cost more to read than one long one.
local function pieces(word)
  local list, n, from = {}, 0, 1
  while true do
    local to = find(word, '${GLUE}', from, true)
    n = n + 1
    if not to then
      list[n] = sub(word, from)
      return list
    end
    list[n] = sub(word, from, to - 1)
    from = to + 1
  end
end

local function holdAll(seqs, fences)
  local leases = fetch('HMGET', P .. 'leases', seqs)
  for i = 1, #seqs do
    local lease, fence = leases[i], fences[i]
    if not lease or sub(lease, 1, #fence) ~= fence then return false end
  end
  return true
end

local function writeRows(seqs, rows, texts)
  local hash, past, index, n = {}, {}, {}, 0
  for i = 1, #seqs do
    local seq, text = seqs[i], texts[i]
    hash[2 * i - 1] = seq
    hash[2 * i] = rows[i]
    if text ~= '' then
      local number, id = match(text, '^(%d+)%z([^%z]*)')
      past[n + 1] = seq .. ':' .. number
      past[n + 2] = text
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
  local seqs, fences, rows, texts = pieces(take()), pieces(take()), pieces(take()), pieces(take())
  local isWhole = #seqs == count and #fences == count and #rows == count and #texts == count
  local isHeld = isWhole and holdAll(seqs, fences)
  if isHeld then
    writeRows(seqs, rows, texts)
    writeGroups(seqs)
    writeRest()
  end
  at = last
  return isHeld
end
`
