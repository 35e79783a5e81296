-- New jobs and the records written with them.

-- @include jobs
-- @include records

local INSERTED, EXISTS, FULL_QUEUE, RECORD_CONFLICT = 1, 0, -1, -2

local function takeJobs()
  local jobs, ids = {}, {}
  for i = 1, takeNumber() do
    local made = takeJob()
    made.head = decodeRow(made.row)
    jobs[i], ids[i] = made, made.head.id
  end
  return jobs, ids
end

local function insertJobs()
  local now, waitingMax = takeNumber(), takeNumber()
  local writes = takeRecords()
  local jobs, ids = takeJobs()
  local results, isNew = {}, {}
  if not recordsFit(writes, now) then
    for i = 1, #jobs do results[i] = RECORD_CONFLICT end
    return results
  end
  local stored = fetch('HMGET', 'ids', ids)
  local sequence = call('INCRBY', key('sequence'), #jobs) - #jobs
  for i, made in ipairs(jobs) do
    local h = made.head
    if stored[i] or isNew[h.id] then
      results[i] = EXISTS
    elseif isFull(h, waitingMax) then
      results[i] = FULL_QUEUE
    else
      isNew[h.id] = true
      addJob(sequenceText(sequence + i), made, h, now)
      results[i] = INSERTED
    end
  end
  flush()
  flushCounts()
  if next(isNew) then putRecords(writes, now) end
  return results
end
