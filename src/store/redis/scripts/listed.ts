// Jobs by mark, as store/shared/marks has it: a sorted set of each, for one tenant and for all. What
// somebody holds is live, whatever its row still says. Tasks have no marks.

import { allMarks, LIVE, UNSTARTED } from '../../shared/marks.ts'

export const listed = String.raw`
local LIVE, UNSTARTED = '${LIVE}', '${UNSTARTED}'
local MARKS = { ${allMarks.map(mark => `'${mark}'`).join(', ')} }

local function markOf(h, isHeld)
  if isHeld or h.state == '1' then return LIVE end
  if h.state ~= '0' then return h.state end
  return h.wait == '0' and UNSTARTED or LIVE
end

local function markNames(tenant, mark)
  local all = 'mj:' .. mark
  return all, all .. ':' .. tenant
end

local function enlist(seq, h, isHeld)
  if h.kind ~= '0' then return end
  local all, own = markNames(h.tenant, markOf(h, isHeld))
  add(all, seq, seq)
  add(own, seq, seq)
end

local function delist(seq, h, isHeld)
  if h.kind ~= '0' then return end
  local all, own = markNames(h.tenant, markOf(h, isHeld))
  call('ZREM', P .. all, seq)
  call('ZREM', P .. own, seq)
end

local function relist(seq, before, wasHeld, after, isHeld)
  if before.kind ~= '0' then return end
  local isSame = markOf(before, wasHeld) == markOf(after, isHeld)
  if isSame and before.tenant == after.tenant then return end
  delist(seq, before, wasHeld)
  enlist(seq, after, isHeld)
end

-- Jobs of one tenant from one mark to another.
local function moveMarked(tenant, from, to, seqs)
  local scored = {}
  for i = 1, #seqs do
    scored[2 * i - 1] = seqs[i]
    scored[2 * i] = seqs[i]
  end
  local allFrom, ownFrom = markNames(tenant, from)
  local allTo, ownTo = markNames(tenant, to)
  batch('ZREM', P .. allFrom, seqs)
  batch('ZREM', P .. ownFrom, seqs)
  batch('ZADD', P .. allTo, scored)
  batch('ZADD', P .. ownTo, scored)
end
`
