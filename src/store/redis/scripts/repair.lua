-- Puts one job, given by its number, where it belongs.

-- @include faults

local now, seq = takeNumber(), take()
local row, lease = call('HGET', key('jobs'), seq), storedLease(seq)
if not row then
  call('ZREM', key('jobs:all'), seq)
  -- Whose it was is not known any more; in the lists of its tenant it is passed over.
  for _, status in ipairs(STATUSES) do call('ZREM', key(statusKey(status)), seq) end
  return 1
end
local h = decodeRow(row)
eachList(h, function(name, isIn)
  if isIn then call('ZADD', name, seq, seq) else call('ZREM', name, seq) end
end)
if placeFault(seq, h, lease) then
  call('ZREM', key(timedKey(h.route)), seq)
  if call('ZREM', key(laneKey(h.route, h.lane)), seq) == 1 then leaveLane(h.route, h.lane) end
  if not lease then place(seq, h, now) end
  flush()
end
if lease and not isRecorded(seq, lease.token) then beginLeases(lease.token, lease.expire, { seq }) end
return 1
