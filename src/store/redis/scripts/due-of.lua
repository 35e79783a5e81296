-- Of the given numbers, those due within the times, each with its due time.

-- @include routes

local from, till, tenant, kind = takeNumber(), takeNumber(), take(), take()
local seqs, reply = takeRest(), {}
for i, row in ipairs(fetch('HMGET', 'jobs', seqs)) do
  local due = decodeRow(row).due
  if due and due >= from and due < till and isOf(row, tenant, kind) then
    insert(reply, seqs[i])
    insert(reply, int(due))
  end
end
return reply
