-- Jobs by status, for all tenants and for each. Running rewrites no list: a job that runs for the
-- first time is still among the unstarted ones, and who is running is told by the leases. Tasks
-- are in no list.

-- @include base

local STATUSES = { 'unstarted', 'live', 'paused', 'completed', 'failed', 'cancelled' }
local STATUS_OF_STATE = { [2] = 'paused', [3] = 'completed', [4] = 'failed', [5] = 'cancelled' }
local STATE_OF_STATUS = { paused = 2, completed = 3, failed = 4, cancelled = 5 }

local function statusKey(status) return 'jobs:by-status:' .. status end
local function tenantStatusKey(status, tenant) return statusKey(status) .. ':' .. tenant end

local function statusOf(h)
  return STATUS_OF_STATE[h.state] or (h.isUnstarted and 'unstarted' or 'live')
end

local function enlist(seq, h)
  if h.kind ~= 0 then return end
  local status = statusOf(h)
  zadd(statusKey(status), seq, seq)
  zadd(tenantStatusKey(status, h.tenant), seq, seq)
end

local function delist(seq, h)
  if h.kind ~= 0 then return end
  local status = statusOf(h)
  zrem(statusKey(status), seq)
  zrem(tenantStatusKey(status, h.tenant), seq)
end

-- Of a job whose row from before is not read: it was running.
local function relistRunning(seq, after)
  if after.kind ~= 0 then return end
  local now = statusOf(after)
  for i = 1, 2 do
    local status = STATUSES[i]
    if status ~= now then
      zrem(statusKey(status), seq)
      zrem(tenantStatusKey(status, after.tenant), seq)
    end
  end
  enlist(seq, after)
end
