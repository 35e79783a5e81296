-- Versions of the leases that hold, -1 for those that do not; without an end it only looks.

-- @include held

local expire, results = takeNumber(), {}
for i = 1, takeNumber() do
  local seq, lease = heldBy(take(), take(), takeNumber())
  if seq and expire then
    lease.version, lease.expire = lease.version + 1, expire
    call('HSET', key('leases'), seq, encodeLease(lease))
    call('ZADD', key('claims:by-end'), 'LT', expire, lease.token)
  end
  results[i] = seq and lease.version or -1
end
return results
