-- New jobs and the claim after them, in one step.

-- @include claims
-- @include inserts

local sender = take()
local inserted = insertJobs()
wake(sender)
return { inserted, claimJobs() }
