// Due and waiting → running. While everything due fits, it is simply taken; under contention what is
// due is made ready in bites, and tenants and their users take turns. Core decides who; this file
// finds them.

import { takeTurns, type Candidate } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import { tenantOfLane } from '../../core/lane.ts'
import { plainTurn, tenantTurnKey } from '../../core/turns.ts'
import type { ClaimRequest } from '../store.ts'
import { bulkSql, inBulk } from './bulk.ts'
import { areTenantsDue, dueFrom, laneCandidates, promote, type Due } from './contention.ts'
import { dueColumns, leaseJobsSql, type DueRow } from './columns.ts'
import { kinds, RUNNING, WAITING } from '../shared/codes.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'
import { readDamage } from './damage.ts'
import { assertCounters, leasedJob, type Cold } from './record.ts'
import { hasUsersDue, onlyTenantDue, takeRuled } from './ruled.ts'
import type { Lent, Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { parseBody, type Told } from '../shared/told.ts'
import { keepTurn, moveCursor, turnAt } from './turns.ts'

interface Found extends Candidate {
  readonly row: DueRow
  readonly body: Told
  readonly cold: Cold
}

const timedSql = `from jobs indexed by timed
  where line = ? and ready = 0 and due_at <= ? limit ?`
const readySql = `from jobs indexed by ready
  where line = ? and ready = 1 and due_at <= ? limit ?`

export function claim(tables: Tables, request: ClaimRequest): Job[] {
  if (request.limit <= 0) return []
  const lines = tables.glance(() => linesWithDue(tables, request))
  const claimed = lines.length === 0 ? [] : tables.write(() => claimFrom(tables, lines, request))
  if (claimed.length === request.limit) tables.crowded.add(request.queue)
  else tables.crowded.delete(request.queue)
  return claimed
}

/** A look before the write: most claims of an idle system end here. */
function linesWithDue(tables: Tables, { queue, handlers, now }: ClaimRequest): number[] {
  const lines: number[] = []
  for (const handler of new Set(handlers)) {
    const line = tables.lines.find(queue, handler)
    if (line === null) continue
    const due = dueFrom(tables, line, now, 1)
    if (due.timed + due.ready > 0) lines.push(line)
  }
  return lines
}

function claimFrom(tables: Tables, lines: readonly number[], request: ClaimRequest): Job[] {
  const { queue, now, limit } = request
  const { isPaused, cursor: key } = queueOf(tables, queue)
  if (isPaused) return []
  // After a claim that gave all it was asked for, nobody need count what is due.
  const isCrowd = tables.crowded.has(queue)
  const due = lines.map(line => dueFrom(tables, line, now, isCrowd ? 1 : limit + 1))
  if (request.isRuled || request.within || request.shares) {
    promote(tables, due, request)
    return leaseRuled(tables, lines, request)
  }
  const cursor = tenantOfLane(fromKey(key))
  if (!isCrowd && countOf(due) <= limit) return leaseAll(tables, due, request, cursor)
  promote(tables, due, request)
  const flat = flatTurn(tables, lines, request, toKey(cursor))
  if (flat === null) {
    const all = isCrowd ? lines.map(line => dueFrom(tables, line, now, limit + 1)) : due
    if (countOf(all) <= limit) return leaseAll(tables, all, request, cursor)
    return leaseRuled(tables, lines, request)
  }
  const ring = { cursor: flat.cursor, now, limit: limit + (isCrowd ? 1 : 0) }
  const found = laneCandidates(tables, lines, ring)
  const candidates = found.flatMap(row => asFound(tables, row))
  // It was no crowd after all: nobody had to wait for a turn.
  const isAll = isCrowd && found.length <= limit
  const laneCursor = () => (isAll ? '' : fromKey(flat.cursor))
  const turns = takeTurns(candidates, cursor, limit, laneCursor)
  if (!isAll && turns.cursor !== cursor) moveCursor(tables, queue, toKey(turns.cursor))
  if (!isAll && flat.tenant !== null) {
    const lane = turns.lanes.get(flat.tenant) ?? flat.tenant
    keepTurn(tables, tenantTurnKey(queue, '', flat.tenant), plainTurn({ lane: toKey(lane) }), now)
  }
  return lease(tables, turns.taken, request)
}

function countOf(due: readonly Due[]): number {
  return due.reduce((sum, { timed, ready }) => sum + timed + ready, 0)
}

/** What is due fits: it is all taken. */
function leaseAll(
  tables: Tables,
  due: readonly Due[],
  request: ClaimRequest,
  cursor: string,
): Job[] {
  const { now, limit } = request
  const found = due.flatMap(({ line, timed, ready }) => [
    ...(timed > 0 ? tables.packedAll(dueColumns, timedSql, line, now, limit) : []),
    ...(ready > 0 ? tables.packedAll(dueColumns, readySql, line, now, limit) : []),
  ])
  const candidates = found.flatMap(row => asFound(tables, row))
  return lease(tables, takeTurns(candidates, cursor, limit).taken, request)
}

function leaseRuled(tables: Tables, lines: readonly number[], request: ClaimRequest): Job[] {
  const taken = takeRuled(tables, lines, request).flatMap(row => asFound(tables, row))
  return lease(tables, taken, request)
}

interface FlatTurn {
  /** The lane served last, as it is stored. */
  readonly cursor: string
  /** Whose users take turns; null where tenants do. */
  readonly tenant: string | null
}

/** Turns of one kind: of the users of the only tenant, or of tenants without users; or null. */
function flatTurn(
  tables: Tables,
  lines: readonly number[],
  { queue, now, limit }: ClaimRequest,
  cursor: string,
): FlatTurn | null {
  const only = onlyTenantDue(tables, lines, now)
  if (only === null)
    return areTenantsDue(tables, lines, now, limit) ? { cursor, tenant: null } : null
  if (!hasUsersDue(tables, lines, only, now)) return { cursor, tenant: null }
  const tenant = fromKey(only)
  const { lane } = turnAt(tables, tenantTurnKey(queue, '', tenant), now)
  return { cursor: lane, tenant }
}

function queueOf(tables: Tables, queue: string): { isPaused: boolean; cursor: string } {
  const [paused, cursor] = (tables
    .statement('select paused, cursor from queues where queue = ?')
    .get(toKey(queue)) ?? [0, '']) as [number, string]
  return { isPaused: paused === 1, cursor }
}

/** Inside a write: a due job of this queue that came now would be all there is to give. */
export function hasNoneDue(tables: Tables, request: ClaimRequest): boolean {
  return linesWithDue(tables, request).length === 0 && !queueOf(tables, request.queue).isPaused
}

/** None for a row that does not decode: it is left where it is, and noted. */
function asFound(tables: Tables, row: Row): Found | [] {
  const due = row as DueRow
  const [seq, specAt, rank, , attempts, fence, version, text] = due
  try {
    const cold = tables.specs.get(seq, specAt)
    assertCounters(attempts, fence, version)
    return { row: due, body: parseBody(text), cold, lane: cold.spec.lane, rank, seq }
  } catch (error) {
    tables.damages.note(readDamage(tables, seq, error))
    return []
  }
}

function lease(tables: Tables, taken: readonly Found[], request: ClaimRequest): Job[] {
  const { now, leaseMs } = request
  const until = now + leaseMs
  const token = toKey(request.token)
  const owner = toKey(request.owner)
  const shared = [token, owner, now, until] as const
  const run = (rows: readonly Lent[]) => {
    const sql = bulkSql('lease', 2, rows.length, leaseJobsSql)
    const values: Value[] = [...shared]
    for (const [seq, attemptId] of rows) values.push(seq, toKey(attemptId))
    tables.statement(sql).run(...values)
    return true
  }
  const lent = taken.map(({ seq }, i): Lent => [seq, request.attemptIds[i]!])
  inBulk(tables, lent, { many: run, one: row => run([row]) })
  tables.leases.begin(
    token,
    until,
    taken.map(({ seq }) => seq),
  )
  return taken.map(({ row, body, cold }, i) => {
    const kind = kinds.indexOf(cold.kind)
    const { tenant } = cold.spec
    tables.tallies.moved({ tenant, line: cold.line, kind, from: WAITING, to: RUNNING })
    tables.leased.set(cold.id, lent[i]!)
    return leasedJob(row, body, cold, {
      token: request.token,
      owner: request.owner,
      attemptId: request.attemptIds[i]!,
      claimedAt: now,
      until,
    })
  })
}
