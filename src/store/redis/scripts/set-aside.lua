-- Writes a job that failed in place of a record that does not decode, unless the record changed
-- since it was read. Answers whether it did.

-- @include damaged

local now, seq, made = takeNumber(), take(), takeJob()
local row = call('HGET', key('jobs'), seq) or ''
local definition = call('HGET', key('definitions'), seq) or ''
if take() ~= row or take() ~= definition then return 0 end
local h, lease, after = decodeRow(row), call('HGET', key('leases'), seq), decodeRow(made.row)
local found = removeEverywhere(seq)
if h ~= DAMAGED then
  unindexOwners(seq, h)
  found = {
    tenant = h.tenant, queue = h.queue, handler = h.handler, kind = h.kind,
    state = lease and RUNNING or h.state,
  }
end
found.tenant = found.tenant or after.tenant
found.queue, found.handler = found.queue or after.queue, found.handler or after.handler
uncount(found)
addJob(seq, made, after, now)
flush()
flushCounts()
return 1
