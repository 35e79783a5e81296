-- Writes records, each on its own; answers which were written.

-- @include records

local now, results = takeNumber(), {}
for i, write in ipairs(takeRecords()) do
  local isFit = recordFits(write, now)
  if isFit then putRecord(write, now) end
  results[i] = isFit and 1 or 0
end
return results
