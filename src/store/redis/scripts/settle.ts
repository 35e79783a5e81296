// The usual end of attempts: the leases are checked all at once, and if every one still holds, rows,
// attempts and places are written, each kind with one command. If one does not, nothing is.

export const settling = String.raw`
-- Numbers, what their leases must begin with, rows and attempts lie one kind after another.
local function holdAll(first, count)
  local leases = call('HMGET', P .. 'leases', unpack(ARGV, first + 1, first + count))
  for i = 1, count do
    local lease, fence = leases[i], ARGV[first + count + i]
    if not lease or sub(lease, 1, #fence) ~= fence then return false end
  end
  return true
end

local function writeRows(first, count)
  local rows, texts, index = {}, {}, {}
  local rowsFrom, textsFrom, n = first + 2 * count, first + 3 * count, 0
  for i = 1, count do
    local seq, text = ARGV[first + i], ARGV[textsFrom + i]
    rows[2 * i - 1] = seq
    rows[2 * i] = ARGV[rowsFrom + i]
    if text ~= '' then
      local number, id = match(text, '^(%d+)%z([^%z]*)')
      texts[n + 1] = seq .. ':' .. number
      texts[n + 2] = text
      index[n + 1] = 0
      index[n + 2] = id .. Z .. seq .. Z .. number
      n = n + 2
    end
  end
  batch('HSET', P .. 'jobs', rows)
  batch('HSET', P .. 'h', texts)
  batch('ZADD', P .. 'ah', index)
end

-- Scores of a group, one for all or one for each, beside its numbers.
local function scored(from, count)
  local shared, list = take(), {}
  for i = 1, count do
    list[2 * i - 1] = shared ~= '' and shared or take()
    list[2 * i] = ARGV[from + i]
  end
  return list
end

-- What a group of jobs, which lie one behind the other, comes to.
local ends = {
  kept = function(from, count)
    local list = {}
    for i = 1, count do
      list[2 * i - 1] = ARGV[from + i]
      list[2 * i] = take()
    end
    batch('HSET', P .. 'leases', list)
  end,
  none = function() end,
  set = function(from, count) batch('ZADD', P .. take(), scored(from, count)) end,
  -- What ends together is one entry; pruning takes it apart.
  ended = function(from, count)
    local key, expire = P .. take(), take()
    call('ZADD', key, expire, concat({ unpack(ARGV, from + 1, from + count) }, ','))
  end,
  timed = function(from, count)
    local key, list = P .. take(), scored(from, count)
    if not woke then woke = isSooner(key, list) end
    batch('ZADD', key, list)
  end,
  ready = function(from, count)
    local line, lane, latest = take(), take(), take()
    local ring = P .. 'ring:' .. line
    if not woke then woke = call('EXISTS', ring) == 0 end
    call('ZADD', ring, 0, lane)
    call('ZADD', P .. 'marks', 'GT', latest, line)
    batch('ZADD', P .. 'ready:' .. line .. Z .. lane, scored(from, count))
  end,
}

local function writeGroups(first)
  local from = first
  for _ = 1, takeNumber() do
    local kind, clears, count = take(), take() == '1', takeNumber()
    ends[kind](from, count)
    if kind ~= 'kept' then call('HDEL', P .. 'leases', unpack(ARGV, from + 1, from + count)) end
    if clears then call('HDEL', P .. 'progress', unpack(ARGV, from + 1, from + count)) end
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
end

local function settle()
  local count, size = takeNumber(), takeNumber()
  local first = at
  local last = first + 4 * count + size
  local isHeld = count == 0 or holdAll(first, count)
  if count > 0 and isHeld then
    writeRows(first, count)
    at = first + 4 * count
    writeGroups(first)
    writeRest()
  end
  at = last
  return isHeld
end
`
