-- Writes changes; answers for each of them.

-- @include changes

local sender, now, waitingMax = take(), takeNumber(), takeNumber()
local results = {}
for i, change in ipairs(takeChanges()) do results[i] = commitChange(change, now, waitingMax) end
flushChanges()
flushCounts()
wake(sender)
return results
