-- Numbers of what is ready, as many of each route as of the others; nothing that was due before.

-- @include places
-- @include routes

local from, queue, look = takeNumber(), take(), takeNumber()
local names, seqs = routesOf(queue), {}
local share = ceil(look / max(1, #names))
for _, route in ipairs(names) do
  local latestDue = tonumber(call('ZSCORE', key('ready:latest-due'), route) or '-inf')
  local room = latestDue >= from and share or 0
  local lanes = room > 0 and call('ZRANGE', key(ringKey(route)), 0, room - 1) or {}
  for _, lane in ipairs(lanes) do
    local list = call('ZRANGE', key(laneKey(route, lane)), 0, room - 1)
    for i = 1, #list do seqs[#seqs + 1] = list[i] end
    room = room - #list
    if room <= 0 then break end
  end
end
return seqs
