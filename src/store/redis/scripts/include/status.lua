-- Jobs by status, for all tenants and for each. Running rewrites no list: a job that runs for the
-- first time is still among the unstarted ones, and who is running is told by the leases. Tasks
-- are in no list.

-- @include base

local STATUSES = { 'unstarted', 'live', 'paused', 'completed', 'failed', 'cancelled' }
local STATUS_OF_STATE = { [2] = 'paused', [3] = 'completed', [4] = 'failed', [5] = 'cancelled' }

local function statusKey(status) return 'jobs:by-status:' .. status end
local function tenantStatusKey(status, tenant) return statusKey(status) .. ':' .. tenant end

local function statusOf(h)
  return STATUS_OF_STATE[h.state] or (h.isUnstarted and 'unstarted' or 'live')
end

-- Numbers by tenant and status, for the lists they come into and those they leave.
local coming, leaving = {}, {}

local function enlist(seq, h)
  if h.kind == 0 then push(tableIn(coming, h.tenant), statusOf(h), seq, seq) end
end

local function delist(seq, h)
  if h.kind == 0 then push(tableIn(leaving, h.tenant), statusOf(h), seq) end
end

-- Of a job that ran, whose row from before is not read: it was unstarted or live.
local function relistRunning(seq, h)
  if h.kind ~= 0 then return end
  local own, status = tableIn(leaving, h.tenant), statusOf(h)
  if status ~= 'unstarted' then push(own, 'unstarted', seq) end
  if status ~= 'live' then push(own, 'live', seq) end
  push(tableIn(coming, h.tenant), status, seq, seq)
end

local function flushLists(command, tenants)
  for tenant, lists in pairs(tenants) do
    for status, list in pairs(lists) do
      batch(command, statusKey(status), list)
      batch(command, tenantStatusKey(status, tenant), list)
    end
  end
end

local function flushStatus()
  flushLists('ZREM', leaving)
  flushLists('ZADD', coming)
  coming, leaving = {}, {}
end
