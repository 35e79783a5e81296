-- New jobs and the records written with them.

-- @include jobs
-- @include records

local INSERTED, EXISTS, FULL_QUEUE, RECORD_CONFLICT = 1, 0, -1, -2

local function takeJobs()
  local jobs = {}
  for i = 1, takeNumber() do jobs[i] = takeJob() end
  return jobs
end

local function insertJobs()
  local now, waitingMax = takeNumber(), takeNumber()
  local writes, jobs = takeRecords(), takeJobs()
  local results, ids = {}, {}
  if not recordsFit(writes, now) then
    for i = 1, #jobs do results[i] = RECORD_CONFLICT end
    return results
  end
  for i, made in ipairs(jobs) do ids[i] = made.id end
  local stored, isNew = fetch('HMGET', 'ids', ids), {}
  for i, made in ipairs(jobs) do
    local h = decodeRow(made.row)
    if stored[i] or isNew[made.id] then
      results[i] = EXISTS
    elseif isFull(h, waitingMax) then
      results[i] = FULL_QUEUE
    else
      isNew[made.id] = true
      addJob(nextSequence(), made, h, now)
      results[i] = INSERTED
    end
  end
  flush()
  flushCounts()
  if next(isNew) then putRecords(writes, now) end
  return results
end
