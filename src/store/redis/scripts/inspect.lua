-- Numbers, as many as given: answers with number, id and fault of those that have one, or only of
-- those that are gone.

-- @include faults

local found, isWhole = {}, takeFlag()
local function report(seq, id, fault)
  for _, word in ipairs({ seq, id, fault }) do insert(found, word) end
end
for _, seq in ipairs(takeRest()) do
  local row = call('HGET', key('jobs'), seq)
  if not row then
    report(seq, '', 'gone')
  elseif isWhole then
    local h, lease = decodeRow(row), storedLease(seq)
    local fault = placeFault(seq, h, lease)
    if fault then report(seq, h.id, fault) end
    if lease and not isRecorded(seq, lease.token) then report(seq, h.id, 'unrecorded') end
    if not isListed(seq, h) then report(seq, h.id, 'unlisted') end
  end
end
return found
