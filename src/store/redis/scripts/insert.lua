-- Stores new jobs, idempotent by id, and the records written with them; answers for each job.

-- @include inserts

local sender = take()
local results = insertJobs()
wake(sender)
return results
