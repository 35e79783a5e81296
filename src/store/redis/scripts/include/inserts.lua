-- New jobs and the records written with them.

-- @include jobs
-- @include records

local INSERT_RESULT = { inserted = 1, exists = 0, full = -1, conflict = -2 }

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
    for i = 1, #jobs do results[i] = INSERT_RESULT.conflict end
    return results
  end
  local stored = fetch('HMGET', 'ids', ids)
  local sequence = call('INCRBY', key('sequence'), #jobs) - #jobs
  for i, made in ipairs(jobs) do
    local h = made.head
    if stored[i] or isNew[h.id] then
      results[i] = INSERT_RESULT.exists
    elseif isFull(h, waitingMax) then
      results[i] = INSERT_RESULT.full
    else
      isNew[h.id] = true
      addJob(sequenceText(sequence + i), made, h, now)
      results[i] = INSERT_RESULT.inserted
    end
  end
  flush()
  flushCounts()
  if next(isNew) then putRecords(writes, now) end
  return results
end
