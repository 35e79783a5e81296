-- Pauses or resumes a queue.

-- @include base

local sender, queue, isPaused = take(), take(), takeFlag()
if isPaused then
  call('SADD', key('queues:paused'), queue)
elseif call('SREM', key('queues:paused'), queue) == 1 then
  call('SPUBLISH', key('wake'), sender)
end
return 1
