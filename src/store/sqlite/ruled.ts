// Claims in turns of tenants and their lanes, where these have rules, shares or a scope of their own:
// the rings of core/turns over seeks in the index of ready jobs. Names of lanes and turns are keys,
// as they are stored.

import {
  leftOfShare,
  openOf,
  plainRule,
  shorterTenants,
  tenantOfLane,
  type LaneRule,
} from '../../core/lane.ts'
import {
  plainTurn,
  serveRing,
  serveTenants,
  tenantTurnKey,
  turnKey,
  type LaneRoom,
  type Ring,
  type Served,
  type Turn,
} from '../../core/turns.ts'
import type { ClaimRequest, TenantLanes } from '../store.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { dueColumns, type DueRow } from './columns.ts'
import type { Row } from '../sql/sqlite/driver.ts'
import { ruleOf, spend, useOf, type Placed } from './lane-use.ts'
import type { Tables } from './tables.ts'
import { keepQueueTurn, keepTurn, moveCursor, queueTurn, turnAt } from './turns.ts'

interface Span {
  readonly from: string
  readonly until: string
}

interface Ask {
  readonly tables: Tables
  readonly request: ClaimRequest
  readonly lines: readonly number[]
  readonly isRuled: boolean
  /** What was found: rows of a lane, and the lanes next to others. */
  readonly found: Map<string, string | null>
  readonly read: Map<string, Placed[]>
}

const freeRoom: LaneRoom = { weight: 1, open: Infinity }

/** Rows of jobs in the order of their turns. Inside a write. */
export function takeRuled(tables: Tables, lines: readonly number[], request: ClaimRequest): Row[] {
  const { within } = request
  const isRuled = request.isRuled === true || within !== undefined
  const ask: Ask = { tables, request, lines, isRuled, read: new Map(), found: new Map() }
  const taken = within?.lanes ? takeLanes(ask, within.lanes) : takeTenants(ask)
  if (isRuled) spend(tables, taken, request)
  return taken.map(({ row }) => row)
}

/** Of the lanes of one tenant. */
function takeLanes(ask: Ask, { tenant, spans }: TenantLanes): Placed[] {
  const { tables, request } = ask
  const key = turnKey(request.queue, request.within!.scope)
  const keys = spans.map(({ from, until }) => ({ from: toKey(from), until: toKey(until) }))
  const before = turnAt(tables, key, request.now)
  const { open } = tenantRoom(ask, toKey(tenant))
  const { taken, turn } = serveLanes(ask, keys, before, Math.min(request.limit, open))
  if (turn !== before) keepTurn(tables, key, turn, request.now)
  return taken
}

function takeTenants(ask: Ask): Placed[] {
  const { tables, request } = ask
  const { queue, within, now, limit } = request
  const scope = within?.scope ?? ''
  const innerKey = (tenant: string) => tenantTurnKey(queue, scope, fromKey(tenant))
  const hasUsers = new Map<string, boolean>()
  const ring = {
    next: (tenant: string, isBehind: boolean) => nextTenant(ask, tenant, isBehind),
    room: (tenant: string) => tenantRoom(ask, tenant),
    serve: (tenant: string, count: number) => {
      if (!hasUsers.has(tenant)) hasUsers.set(tenant, hasUsersDue(tables, ask.lines, tenant, now))
      const turn = turnAt(tables, innerKey(tenant), now)
      return serveLanes(ask, keysOfTenant(tenant), turn, count)
    },
  }
  const before = within ? turnAt(tables, turnKey(queue, scope), now) : queueTurn(tables, queue)
  const { taken, turn, inner } = serveTenants(ring, before, limit)
  if (turn !== before) {
    if (within) keepTurn(tables, turnKey(queue, scope), turn, now)
    else if (ask.isRuled) keepQueueTurn(tables, queue, turn)
    else moveCursor(tables, queue, turn.lane)
  }
  for (const [tenant, last] of inner) {
    if (!hasUsers.get(tenant)) continue
    keepTurn(tables, innerKey(tenant), ask.isRuled ? last : plainTurn(last), now)
  }
  return taken
}

function serveLanes(ask: Ask, spans: readonly Span[], turn: Turn, limit: number): Served<Placed> {
  const given = new Map<string, number>()
  const ring: Ring<Placed> = {
    next: (lane, isBehind) => {
      const key = `${spans[0]!.from}\u0000${isBehind ? '>' : ''}${lane}`
      const known = ask.found.get(key)
      if (known !== undefined) return known
      const found = nextLane(ask, spans, lane, isBehind)
      ask.found.set(key, found)
      return found
    },
    // The rule under the name of the tenant holds for all its lanes together.
    room: lane => (lane === tenantOfLane(lane) ? freeRoom : roomOf(ask, lane)),
    give: (lane, count) => {
      const from = given.get(lane) ?? 0
      const rows = rowsOf(ask, lane, from + count).slice(from)
      given.set(lane, from + rows.length)
      return rows
    },
  }
  return serveRing(ring, turn, limit)
}

function roomOf({ tables, request, isRuled }: Ask, lane: string): LaneRoom {
  const rule: LaneRule = isRuled ? ruleOf(tables, lane, request.now) : plainRule
  if (rule === plainRule) return freeRoom
  return { weight: rule.weight, open: openOf(rule, useOf(tables, lane), request.now) }
}

function tenantRoom(ask: Ask, tenant: string): LaneRoom {
  const { weight, open } = roomOf(ask, tenant)
  return { weight, open: Math.min(open, leftOfShare(ask.request.shares, fromKey(tenant))) }
}

const laneSql = (sign: string, until: string) => `select lane from jobs indexed by ready
  where line = ?1 and ready = 1 and due_at <= ?2 and lane ${sign} ?3 ${until}
  order by lane limit 1`

/** In all lines, and in the spans asked for. */
function nextLane(
  { tables, lines, request }: Ask,
  spans: readonly Span[],
  lane: string,
  isBehind: boolean,
): string | null {
  let first: string | null = null
  for (const { from, until } of spans) {
    const isInside = lane >= from
    if (isInside && lane >= until) continue
    const seek = { from: isInside ? lane : from, isBehind: isInside && isBehind, until }
    const found = firstLane(tables, lines, request.now, seek)
    if (found !== null && (first === null || found < first)) first = found
  }
  return first
}

/** The least name of a tenant that has something due. */
function nextTenant(ask: Ask, tenant: string, isBehind: boolean): string | null {
  const { tables, lines, request } = ask
  const first = (from: string, until: string | null = null, behind = false) =>
    firstLane(tables, lines, request.now, { from, isBehind: behind, until })
  const isDue = () => keysOfTenant(tenant).some(({ from, until }) => first(from, until) !== null)
  if (!isBehind && isDue()) return tenant
  let lane = first(tenant, `${tenant}/`, true) ?? first(`${tenant}0`)
  // Behind the users of `a-b` come those of `a`.
  while (lane !== null && tenantOfLane(lane) < tenant) lane = first(`${tenantOfLane(lane)}0`)
  if (lane === null) return null
  const found = tenantOfLane(lane)
  const shorter = shorterTenants(found, name => name > tenant)
  return shorter.find(name => first(`${name}/`, `${name}0`) !== null) ?? found
}

/** Whether lanes of users of a tenant have something due. */
export function hasUsersDue(
  tables: Tables,
  lines: readonly number[],
  tenant: string,
  now: number,
): boolean {
  const seek = { from: `${tenant}/`, isBehind: false, until: `${tenant}0` }
  return firstLane(tables, lines, now, seek) !== null
}

/** The one tenant that has something due; null when there are several. */
export function onlyTenantDue(
  tables: Tables,
  lines: readonly number[],
  now: number,
): string | null {
  const lane = firstLane(tables, lines, now, { from: '', isBehind: false, until: null })
  if (lane === null) return null
  const tenant = tenantOfLane(lane)
  const between = { from: tenant, isBehind: true, until: `${tenant}/` }
  const behind = { from: `${tenant}0`, isBehind: false, until: null }
  const isAlone = [between, behind].every(seek => firstLane(tables, lines, now, seek) === null)
  return isAlone ? tenant : null
}

/** The lane of the tenant and those of its users; keys hold no U+0000. */
function keysOfTenant(tenant: string): Span[] {
  return [
    { from: tenant, until: `${tenant}\u0001` },
    { from: `${tenant}/`, until: `${tenant}0` },
  ]
}

interface Seek {
  readonly from: string
  readonly isBehind: boolean
  readonly until: string | null
}

function firstLane(
  tables: Tables,
  lines: readonly number[],
  now: number,
  { from, isBehind, until }: Seek,
): string | null {
  const sql = laneSql(isBehind ? '>' : '>=', until === null ? '' : 'and lane < ?4')
  const end = until === null ? [] : [until]
  let first: string | null = null
  for (const line of lines) {
    const row = tables.statement(sql).get(line, now, from, ...end)
    const found = row ? (row[0] as string) : null
    if (found !== null && (first === null || found < first)) first = found
  }
  return first
}

const behindSql = `select ${dueColumns} from jobs indexed by ready
  where line = ?1 and ready = 1 and due_at <= ?2 and lane = ?3
    and (rank, seq) > (?4, ?5)
  order by rank, seq limit ?6`

/** The first of a lane in the order of rank, whichever line they are of. */
function rowsOf({ tables, request, lines, read }: Ask, lane: string, count: number): Placed[] {
  const before = read.get(lane) ?? []
  if (before.length >= count) return before.slice(0, count)
  const [seq, , rank] = before.at(-1)?.row ?? [-1, 0, Number.MIN_SAFE_INTEGER]
  const wanted = count - before.length
  const found = lines.flatMap(line => {
    return tables.statement(behindSql).all(line, request.now, lane, rank, seq, wanted)
  }) as DueRow[]
  if (lines.length > 1) found.sort((a, b) => a[2] - b[2] || a[0] - b[0])
  const rows = [...before, ...found.slice(0, wanted).map(row => ({ lane, row }))]
  read.set(lane, rows)
  return rows
}
