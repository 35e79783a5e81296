// The end of a claim: what was taken is leased, and what is known of its rows is told.

/** In place of the row of a job that is not leased, but to be set aside. */
export const DAMAGED_ROW = '!'

export const leasing = String.raw`
-- By the first number of its body. Names may look like that, so what is found is looked at again.
local function isUnstarted(row)
  return find(row, '\0[0', 1, true) and match(row, '%z%[0,[^%z]*$')
end

-- Jobs as numbers, all of one line, or as places that know their line.
local function lease(taken, line)
  local seqs, unread = {}, {}
  for i = 1, #taken do
    seqs[i] = line and taken[i] or taken[i].seq
    if line or not taken[i].row then unread[#unread + 1] = seqs[i] end
  end
  local rows, n = fetch('HMGET', P .. 'jobs', unread), 0
  local stamp, till = int(now), int(now + leaseMs)
  local middle, tail = Z .. token .. Z .. 'c' .. Z, Z .. owner .. Z .. stamp .. Z .. till
  local leases, reply, begun, held = {}, { stamp }, {}, {}
  local last, version, front, kind, tenant, isNew
  for i = 1, #seqs do
    local job, row = taken[i], nil
    if line or not job.row then
      n = n + 1
      row = rows[n]
    else
      row = job.row
    end
    -- What was made together mostly has the same row: it is looked at and told once.
    local isSame = row == last
    if not isSame then
      version, kind, tenant = match(row or '', '^(%d+)%z%d+%z%d%z([01])%z([^%z]*)')
      last = row
      if version then
        front, isNew = int(version + 1) .. middle, kind == '0' and isUnstarted(row)
      end
    end
    if version then
      local k = #held + 1
      local counts = (line or job.line).counts[kind]
      counts[tenant] = (counts[tenant] or 0) + 1
      if isNew then
        begun[tenant] = begun[tenant] or {}
        insert(begun[tenant], seqs[i])
      end
      held[k] = seqs[i]
      leases[2 * k - 1] = seqs[i]
      leases[2 * k] = front .. ARGV[at + k] .. tail
      reply[2 * k] = seqs[i]
      reply[2 * k + 1] = isSame and '' or row
    else
      bad[#bad + 1] = seqs[i]
    end
  end
  if #held > 0 then
    batch('HSET', P .. 'leases', leases)
    beginLease(token, till, held)
  end
  for tenant, list in pairs(begun) do moveMarked(tenant, UNSTARTED, LIVE, list) end
  for i = 1, #bad do
    reply[#reply + 1] = bad[i]
    reply[#reply + 1] = '${DAMAGED_ROW}'
  end
  return reply
end

local function moveTallies(lines)
  for _, line in ipairs(lines) do
    for kind, counts in pairs(line.counts) do
      for tenant, count in pairs(counts) do
        tally(tenant, line.name, queue, kind, '0', -count)
        tally(tenant, line.name, queue, kind, '1', count)
      end
    end
  end
  flushTallies()
end
`
