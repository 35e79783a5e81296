// The usual end of attempts: the leases are checked all at once, and if every one still holds, the
// commands the client prepared are carried out. If one does not, nothing of it is written.

export const settling = String.raw`
local function holdAll(count)
  local from = at
  at = at + 2 * count
  if count == 0 then return true end
  local leases = call('HMGET', P .. 'leases', unpack(ARGV, from + 1, from + count))
  for i = 1, count do
    local lease, fence = leases[i], ARGV[from + count + i]
    if not lease or sub(lease, 1, #fence) ~= fence then return false end
  end
  return true
end

local special = {
  timed = function(key, from, to)
    if not woke then woke = isSooner(key, { unpack(ARGV, from, to) }) end
    call('ZADD', key, unpack(ARGV, from, to))
  end,
  ring = function(key, from, to)
    if not woke then woke = call('EXISTS', key) == 0 end
    call('ZADD', key, unpack(ARGV, from, to))
  end,
  drop = function(key, from)
    dropAttempt(ARGV[from], ARGV[from + 1], tonumber(ARGV[from + 2]))
  end,
  tally = function(key, from)
    local tenant, line, queue, kind, state, count = unpack(ARGV, from, from + 5)
    tally(tenant, line, queue, kind, '1', -count)
    tally(tenant, line, queue, kind, state, tonumber(count))
  end,
}

local function carryOut(last)
  while at < last do
    local command, key, size = ARGV[at + 1], P .. ARGV[at + 2], tonumber(ARGV[at + 3])
    local from, to = at + 4, at + 3 + size
    at = to
    if special[command] then
      special[command](key, from, to)
    else
      call(command, key, unpack(ARGV, from, to))
    end
  end
end

local function settle()
  local isHeld, last = holdAll(takeNumber()), takeNumber()
  last = last + at
  if isHeld then carryOut(last) end
  at = last
  return isHeld
end
`
