-- Progress, checkpoints and log lines of attempts whose leases hold. Stored are four lines: the
-- attempt, its progress, the time of the report, and the checkpoint.

-- @include attempts
-- @include constants
-- @include held

local now, results = take(), {}
local NO_PROGRESS = '[false,false]'

local function storeProgress(seq, attempt, progress, checkpoint)
  local before = call('HGET', key('progress'), seq)
  if before then
    local _, reported, _, kept = match(before, '^([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
    -- One that is damaged is written anew: the other reports of the call go on.
    local owner = kept and decodeLine(before, 1)
    if progress == '' and owner and owner[1] == attempt then progress = reported end
    if checkpoint == '' and owner then checkpoint = kept end
  end
  if progress == '' then progress = NO_PROGRESS end
  local lines = { cjson.encode({ attempt }), progress, now, checkpoint }
  call('HSET', key('progress'), seq, concat(lines, '\n'))
end

for i = 1, takeNumber() do
  local seq = heldBy(take(), take(), takeNumber())
  local attempt, progress, checkpoint, lines = take(), take(), take(), {}
  for n = 1, takeNumber() do lines[n] = take() end
  results[i] = seq and 1 or 0
  if seq and (progress ~= '' or checkpoint ~= '') then
    storeProgress(seq, attempt, progress, checkpoint)
  end
  if seq and #lines > 0 then
    local room = LOG_LINES_MAX - call('LLEN', key(logKey(attempt)))
    for n = #lines, room + 1, -1 do lines[n] = nil end
    call('SADD', key(logNamesKey(seq)), attempt)
    batch('RPUSH', logKey(attempt), lines)
  end
end
return results
