-- The earliest time something of the routes is due; '' when nothing is.

-- @include codec
-- @include places

-- Of more ready jobs than this the earliest is not sought: that one of them is due says enough.
local READY_MAX = 64

local least
local function consider(due)
  if due and (not least or due < least) then least = due end
end

local function readySeqs(route)
  local seqs = {}
  for _, lane in ipairs(call('ZRANGE', key(ringKey(route)), 0, READY_MAX - 1)) do
    local room = READY_MAX - #seqs
    if room <= 0 then break end
    local list = call('ZRANGE', key(laneKey(route, lane)), 0, room - 1)
    for i = 1, #list do seqs[#seqs + 1] = list[i] end
  end
  return seqs
end

local skipsReady = takeFlag()
for _ = 1, takeNumber() do
  local queue = take()
  local route = queue .. NUL .. take()
  if call('SISMEMBER', key('queues:paused'), queue) == 0 then
    consider(tonumber(call('ZRANGE', key(timedKey(route)), 0, 0, 'WITHSCORES')[2]))
    local seqs = skipsReady and {} or readySeqs(route)
    for _, row in ipairs(fetch('HMGET', 'jobs', seqs)) do consider(decodeRow(row).due) end
  end
end
return least and int(least) or ''
