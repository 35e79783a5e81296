-- Whether a caller still holds the lease of a job.

-- @include codec

-- The number of the job and its lease, if token and fence are still those.
local function heldBy(id, token, fence)
  local seq = call('HGET', key('ids'), id)
  local lease = seq and storedLease(seq)
  if not lease or lease.token ~= token then return nil end
  local stored = storedRow(seq).fence
  if lease.isClaim then stored = stored + 1 end
  if stored ~= fence then return nil end
  return seq, lease
end
