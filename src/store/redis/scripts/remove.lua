-- Removes jobs by id with everything of theirs; answers which existed.

-- @include damaged
-- @include records

local now = takeNumber()
local writes = takeRecords()
local results, isAny = {}, false
for i = 1, takeNumber() do
  local id = take()
  local seq = call('HGET', key('ids'), id)
  results[i] = seq and 1 or 0
  if seq then
    isAny = true
    local h = storedRow(seq)
    if h == DAMAGED then
      removeDamaged(seq, id)
    else
      removeJob(seq, h, storedLease(seq))
    end
    flush()
  end
end
flushCounts()
if isAny then
  for _, write in ipairs(writes) do
    if recordFits(write, now) then putRecord(write, now) end
  end
end
return results
