-- Numbers, as many as given: answers with number, id and fault of those that have one, or only of
-- those that are gone.

-- @include faults

local found, isWhole = {}, takeFlag()
local function report(seq, fault)
  local definition = decodeDefinition(call('HGET', key('definitions'), seq))
  insert(found, seq)
  insert(found, definition and definition.id or '')
  insert(found, fault)
end
for _, seq in ipairs(takeRest()) do
  local row = call('HGET', key('jobs'), seq)
  if not row then
    report(seq, 'gone')
  elseif isWhole then
    local h, lease = decodeRow(row), decodeLease(call('HGET', key('leases'), seq))
    local fault = placeFault(seq, h, lease)
    if fault then report(seq, fault) end
    if lease and not isRecorded(seq, lease.token) then report(seq, 'unrecorded') end
    if not isListed(seq, h) then report(seq, 'unlisted') end
  end
end
return found
