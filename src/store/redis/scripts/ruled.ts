// Claims where lanes have rules, or only some lanes are asked for: core/turns and core/lane in the
// server, over the rings of all lines.

import { LANE_KIND, laneLimits } from '../../../core/lane.ts'
import { DAY } from '../../../core/time.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../../core/turns.ts'
import { base } from './base.ts'
import { claimParts } from './claim.ts'
import { ordering } from './fair.ts'
import { listed } from './listed.ts'
import { places } from './places.ts'
import { tallies } from './tallies.ts'

/** What a lane has used up is forgotten when nothing was started for so long. */
const FORGOTTEN_AFTER_MS = 30 * DAY

const asking = String.raw`
local scope, spans = take(), {}
for i = 1, takeNumber() do spans[i] = { from = take(), till = take() } end
local turnLane, turnTaken, turnVersion = '', 0, 0
if scope == '' then
  turnLane = call('HGET', P .. 'cursors', queue) or ''
  turnTaken = tonumber(call('HGET', P .. 'taken', queue) or 0)
  spans[1] = { from = '' }
else
  local text = call('HGET', P .. 'rec:${TURN_KIND}', scope)
  local version, expire, json = match(text or '', '^(%d+)%z(%-?%d*)%z(.*)$')
  if version and (expire == '' or tonumber(expire) > now) then
    local turn = cjson.decode(json)
    turnLane, turnTaken, turnVersion = turn.lane, turn.taken, tonumber(version)
  end
end
`

const ringing = String.raw`
-- The first lane of a line from a bound on that has something due.
local function firstOf(line, bound, till)
  local key, last = P .. 'ring:' .. line.name, till and '(' .. till or '+'
  if not line.isMixed then return call('ZRANGEBYLEX', key, bound, last, 'LIMIT', 0, 1)[1] end
  for _, lane in ipairs(call('ZRANGEBYLEX', key, bound, last, 'LIMIT', 0, bite)) do
    if #dueOf(line, lane) > 0 then return lane end
  end
end

local function nextLane(lane, isBehind)
  local first
  for _, span in ipairs(spans) do
    local isInside = not isBefore(lane, span.from)
    if not isInside or not span.till or isBefore(lane, span.till) then
      local bound = '[' .. span.from
      if isInside then bound = (isBehind and '(' or '[') .. lane end
      for _, line in ipairs(lines) do
        local found = line.isReady and firstOf(line, bound, span.till)
        if found and (not first or isBefore(found, first)) then first = found end
      end
    end
  end
  return first
end

local function ruleOf(lane)
  local text = call('HGET', P .. 'rec:${LANE_KIND}', lane)
  if not text then return nil end
  local _, expire, json = match(text, '^(%d+)%z(%-?%d*)%z(.*)$')
  if expire ~= '' and tonumber(expire) <= now then return nil end
  local isRead, rule = pcall(cjson.decode, json)
  return isRead and type(rule) == 'table' and rule or nil
end

-- Jobs no longer held under the lease they were claimed with are forgotten.
local function runningIn(lane)
  local key = P .. 'capped:' .. lane
  local held, n = call('HGETALL', key), 0
  for i = 1, #held, 2 do
    local text = call('HGET', P .. 'leases', held[i])
    if text and leaseOf(text).token == held[i + 1] then
      n = n + 1
    else
      call('HDEL', key, held[i])
    end
  end
  return n
end

local function roomOf(lane)
  local rule = ruleOf(lane)
  local room = { lane = lane, weight = 1, left = math.huge, given = 0, rule = rule }
  if not rule then return room end
  room.weight = rule.weight or 1
  if rule.runningMax then room.left = max(0, rule.runningMax - runningIn(lane)) end
  if rule.count then
    local whole = tonumber(call('GET', P .. 'rate:' .. lane) or 0)
    local spent = ceil((whole - now) * rule.count / rule.perMs - 0.001)
    room.left = min(room.left, max(0, rule.count - max(0, spent)))
  end
  return room
end

-- Of every line so many, in the order of rank.
local function readAhead(room, count)
  local found = {}
  for _, line in ipairs(lines) do
    if line.isReady then
      for _, job in ipairs(placesOf(line, room.lane, 0, count)) do found[#found + 1] = job end
    end
  end
  inRank(found)
  room.found, room.read = found, count
end

-- The next of a lane, behind those it gave before. Reading twice as many costs little in the end.
local function giveOf(room, count)
  local last = room.given + count
  if not room.read or room.read < last then readAhead(room, 2 * last) end
  local given = {}
  for i = room.given + 1, min(last, #room.found) do given[#given + 1] = room.found[i] end
  room.given = room.given + #given
  return given
end
`

const serving = String.raw`
local taken, lastLane, lastTaken, passed = {}, turnLane, turnTaken, nil

local function serve(room, quota, before)
  local wanted = min(quota, room.left, limit - #taken)
  if wanted <= 0 then return 0 end
  local given = giveOf(room, wanted)
  for _, job in ipairs(given) do taken[#taken + 1] = job end
  room.left = #given < wanted and 0 or room.left - #given
  if #given > 0 then lastLane, lastTaken = room.lane, before + #given end
  return #given
end

local rooms, idle = {}, 0
local function visit(lane, before)
  local room = roomOf(lane)
  rooms[#rooms + 1] = room
  idle = serve(room, room.weight - before, before) > 0 and 0 or idle + 1
end

local function firstRound()
  local isGoing = turnTaken > 0 and nextLane(turnLane, false) == turnLane
    and roomOf(turnLane).weight > turnTaken
  if isGoing then visit(turnLane, turnTaken) end
  local lane = nextLane(turnLane, true)
  local isWrapped = not lane
  if isWrapped then lane = nextLane('', false) end
  while lane and #taken < limit do
    if isWrapped and (isBefore(turnLane, lane) or (isGoing and lane == turnLane)) then return end
    visit(lane, 0)
    if idle >= ${laneLimits.idleMax} then
      passed = lane
      return
    end
    local behind = nextLane(lane, true)
    if not behind and not isWrapped then
      isWrapped = true
      behind = nextLane('', false)
    end
    lane = behind
  end
end

local function moreRounds()
  while #taken < limit do
    local open = {}
    for _, room in ipairs(rooms) do
      if room.left > 0 then open[#open + 1] = room end
    end
    if #open == 0 then return end
    for _, room in ipairs(open) do serve(room, #open == 1 and limit or room.weight, 0) end
  end
end
`

const closing = String.raw`
promote(lines)
firstRound()
moreRounds()
if passed then lastLane, lastTaken = passed, ${laneLimits.weightMax} end
if scope == '' and (#taken > 0 or passed) then
  call('HSET', P .. 'cursors', queue, lastLane)
  call('HSET', P .. 'taken', queue, int(lastTaken))
elseif #taken > 0 or passed then
  -- As scripts/records writes one.
  local expire = int(now + ${TURN_KEPT_MS})
  local json = cjson.encode({ lane = lastLane, taken = lastTaken })
  call('HSET', P .. 'rec:${TURN_KIND}', scope, int(turnVersion + 1) .. Z .. expire .. Z .. json)
  call('ZADD', P .. 'rk:${TURN_KIND}', 0, scope)
  call('SADD', P .. 'kinds', '${TURN_KIND}')
  call('ZADD', P .. 'rx', expire, '${TURN_KIND}' .. Z .. scope)
end
if #taken == 0 and #bad == 0 then return {} end
for _, room in ipairs(rooms) do
  local rule = room.given > 0 and room.rule
  if rule and rule.count then
    local whole = max(tonumber(call('GET', P .. 'rate:' .. room.lane) or 0), now)
      + room.given * rule.perMs / rule.count
    call('SET', P .. 'rate:' .. room.lane, format('%.17g', whole), 'PX', ${FORGOTTEN_AFTER_MS})
  end
  if rule and rule.runningMax then
    local key = P .. 'capped:' .. room.lane
    for _, job in ipairs(taken) do
      if job.lane == room.lane then call('HSET', key, job.seq, token) end
    end
    call('PEXPIRE', key, ${FORGOTTEN_AFTER_MS})
  end
end
leaveLanes(taken)
local reply = lease(taken)
moveTallies(lines)
return reply
`

export const claimRuledBody = [
  claimParts.opening,
  asking,
  claimParts.finding,
  claimParts.contending,
  claimParts.leasing,
  ringing,
  serving,
  closing,
].join('\n')

export const claimRuledScript = [base, places, listed, tallies, ordering, claimRuledBody].join('\n')
