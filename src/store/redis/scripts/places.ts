// Where a job stands: the times and lanes of its line, pauses, what expires. Additions are gathered
// and written together; when one of them is sooner than all before, the nodes get a hint.

export const places = String.raw`
local woke = false
local timed, ready, rings, marks, sets = {}, {}, {}, {}, {}

local function add(key, score, member) push(sets, key, score, member) end

local function makeReady(line, lane, due, rank, seq)
  push(ready, line .. Z .. lane, rank, seq)
  local ring = rings[line]
  if not ring then
    ring = {}
    rings[line] = ring
  end
  ring[lane] = true
  marks[line] = max(marks[line] or due, due)
end

local function place(seq, h)
  local line = h.queue .. Z .. h.handler
  if h.state == '0' and h.place == 't' then
    push(timed, line, h.due, seq)
  elseif h.state == '0' and h.place == 'r' then
    makeReady(line, h.lane, tonumber(h.due), h.rank, seq)
  elseif h.state == '2' and h.held ~= '' then
    add('pauses', h.held, seq)
  end
  if h.expire ~= '' then add('exp:' .. h.kind .. ':' .. h.queue, h.expire, seq) end
end

local function isSooner(key, list)
  local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if #first == 0 then return true end
  local least = tonumber(first[2])
  for i = 1, #list, 2 do
    if tonumber(list[i]) < least then return true end
  end
  return false
end

local function flushPlaces()
  for line, list in pairs(timed) do
    local key = P .. 'timed:' .. line
    if not woke then woke = isSooner(key, list) end
    batch('ZADD', key, list)
  end
  for line, lanes in pairs(rings) do
    local key = P .. 'ring:' .. line
    if not woke then woke = call('EXISTS', key) == 0 end
    local list = {}
    for lane in pairs(lanes) do
      list[#list + 1] = 0
      list[#list + 1] = lane
    end
    batch('ZADD', key, list)
    call('ZADD', P .. 'marks', 'GT', int(marks[line]), line)
  end
  for name, list in pairs(ready) do batch('ZADD', P .. 'ready:' .. name, list) end
  for name, list in pairs(sets) do batch('ZADD', P .. name, list) end
  timed, ready, rings, marks, sets = {}, {}, {}, {}, {}
end

local function leaveLane(line, lane, key)
  if call('EXISTS', key) == 0 then call('ZREM', P .. 'ring:' .. line, lane) end
end

-- Of a job nobody holds. Being made ready does not rewrite a row, so both places are tried.
local function unplace(seq, h)
  local line = h.queue .. Z .. h.handler
  if h.state == '0' and h.due ~= '' and call('ZREM', P .. 'timed:' .. line, seq) == 0 then
    local key = P .. 'ready:' .. line .. Z .. h.lane
    if call('ZREM', key, seq) == 1 then leaveLane(line, h.lane, key) end
  end
  if h.state == '2' and h.held ~= '' then call('ZREM', P .. 'pauses', seq) end
  if h.expire ~= '' then call('ZREM', P .. 'exp:' .. h.kind .. ':' .. h.queue, seq) end
end

local function wake(sender)
  if woke then call('SPUBLISH', P .. 'wake', sender) end
end
`
