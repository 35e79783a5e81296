// Claims in turns of tenants and their lanes: core/turns and core/lane in the server, over the rings
// of all lines. With rules, shares or a scope of their own, and for plain claims where turns nest.

import { DAY } from '../../../core/time.ts'
import { base } from './base.ts'
import { claimParts } from './claim.ts'
import { ordering } from './fair.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { ringing } from './rings.ts'
import { tallies } from './tallies.ts'

/** What a lane has used up is forgotten when nothing was started for so long. */
const FORGOTTEN_AFTER_MS = 30 * DAY

const asking = String.raw`
isRuled, scope = take() == '1', take()
local isScoped = take() == '1'
local tenant, spans = take(), {}
for i = 1, takeNumber() do spans[i] = { from = take(), till = take() } end
local most = take()
share = most ~= '' and tonumber(most) or nil
for _ = 1, takeNumber() do
  local name = take()
  shareHeld[name] = takeNumber()
end
`

const closing = String.raw`
-- Under the name of the lane, and under that of its tenant.
local function spendOf(name, jobs)
  local rule = ruleOf(name)
  if not rule then return end
  if rule.count then
    local whole = max(tonumber(call('GET', P .. 'rate:' .. name) or 0), now)
      + #jobs * rule.perMs / rule.count
    call('SET', P .. 'rate:' .. name, format('%.17g', whole), 'PX', ${FORGOTTEN_AFTER_MS})
  end
  if rule.runningMax then
    local key = P .. 'capped:' .. name
    for _, job in ipairs(jobs) do call('HSET', key, job.seq, token) end
    call('PEXPIRE', key, ${FORGOTTEN_AFTER_MS})
  end
end

local function spend(taken)
  local names, byName = {}, {}
  local function add(name, job)
    if not byName[name] then
      byName[name] = {}
      names[#names + 1] = name
    end
    insert(byName[name], job)
  end
  for _, job in ipairs(taken) do
    local owner = tenantOf(job.lane)
    add(job.lane, job)
    if owner ~= job.lane then add(owner, job) end
  end
  for _, name in ipairs(names) do spendOf(name, byName[name]) end
end

promote(lines)
local served
if tenant ~= '' then
  local key = queue .. '\n' .. scope
  local turn = turnAt(key)
  served = serveRing(lanesRing(spans), turn, min(limit, tenantRoom(tenant).left))
  if served.isMoved then keepTurn(key, served.lane, served.count, turn.version) end
elseif isScoped then
  local key = queue .. '\n' .. scope
  local turn = turnAt(key)
  served = serveTenants(turn, limit)
  if served.isMoved then keepTurn(key, served.lane, served.count, turn.version) end
else
  local lane = tenantOf(call('HGET', P .. 'cursors', queue) or '')
  local count = tonumber(call('HGET', P .. 'taken', queue) or 0)
  served = serveTenants({ lane = lane, taken = count }, limit)
  if served.isMoved then
    call('HSET', P .. 'cursors', queue, served.lane)
    if isRuled then call('HSET', P .. 'taken', queue, int(served.count)) end
  end
end
local taken = served.taken
if #taken == 0 and #bad == 0 then return {} end
if isRuled then spend(taken) end
leaveLanes(taken)
local reply = lease(taken)
moveTallies(lines)
return reply
`

export const claimRuledBody = [
  claimParts.opening,
  claimParts.finding,
  claimParts.contending,
  claimParts.leasing,
  ringing,
  asking,
  closing,
].join('\n')

export const claimRuledScript = [base, places, listed, tallies, ordering, claimRuledBody].join('\n')
