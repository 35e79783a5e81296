// Due and waiting → running. While everything due fits, it is simply taken; under contention what
// is due is made ready in bites and the lanes take turns. Core decides who; this file finds them.

import { takeTurns, type Candidate } from '../../core/fair.ts'
import type { Job, Lease } from '../../core/job.ts'
import type { ClaimRequest } from '../store.ts'
import { bulkSql, inBulk } from './bulk.ts'
import { dueFrom, laneCandidates, promote } from './contention.ts'
import { dueColumns, leaseJobsSql, type DueRow } from './columns.ts'
import { kinds, RUNNING, WAITING } from '../shared/codes.ts'
import type { Row, Value } from './driver.ts'
import { leasedRow, toJob, type Cold } from './record.ts'
import { takeRuled } from './ruled.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

interface Found extends Candidate {
  readonly row: DueRow
  readonly cold: Cold
}

const timedSql = `select ${dueColumns} from jobs indexed by timed
  where line = ? and ready = 0 and due_at <= ? limit ?`
const readySql = `select ${dueColumns} from jobs indexed by ready
  where line = ? and ready = 1 and due_at <= ? limit ?`

export function claim(tables: Tables, request: ClaimRequest): Job[] {
  if (request.limit <= 0) return []
  const lines = tables.glance(() => linesWithDue(tables, request))
  return lines.length === 0 ? [] : tables.write(() => claimFrom(tables, lines, request))
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
  const due = lines.map(line => dueFrom(tables, line, now, limit + 1))
  if (request.isRuled || request.within) {
    promote(tables, due, request)
    const taken = takeRuled(tables, lines, request).map(row => asFound(tables, row))
    return lease(tables, taken, request)
  }
  const cursor = fromKey(key)
  const count = due.reduce((sum, { timed, ready }) => sum + timed + ready, 0)
  if (count <= limit) {
    const found = due.flatMap(({ line, timed, ready }) => [
      ...(timed > 0 ? tables.statement(timedSql).all(line, now, limit) : []),
      ...(ready > 0 ? tables.statement(readySql).all(line, now, limit) : []),
    ])
    const { taken } = takeTurns(
      found.map(row => asFound(tables, row)),
      cursor,
      limit,
    )
    return lease(tables, taken, request)
  }
  promote(tables, due, request)
  const found = laneCandidates(tables, lines, { cursor: key, now, limit })
  const turns = takeTurns(
    found.map(row => asFound(tables, row)),
    cursor,
    limit,
  )
  tables
    .statement(
      `insert into queues (queue, cursor) values (?, ?)
        on conflict (queue) do update set cursor = excluded.cursor`,
    )
    .run(toKey(queue), toKey(turns.cursor))
  return lease(tables, turns.taken, request)
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

function asFound(tables: Tables, row: Row): Found {
  const due = row as DueRow
  const [seq, specAt, rank] = due
  const cold = tables.specs.get(seq, specAt)
  return { row: due, cold, lane: cold.spec.lane, rank, seq }
}

type Lent = [seq: number, attemptId: string]

function lease(tables: Tables, taken: readonly Found[], request: ClaimRequest): Job[] {
  const { now, leaseMs } = request
  const until = now + leaseMs
  const token = toKey(request.token)
  const owner = toKey(request.owner)
  const attemptIds = taken.map((_, i) => toKey(request.attemptIds[i]!))
  const shared = [token, owner, now, until] as const
  const run = (rows: readonly Lent[]) => {
    const sql = bulkSql('lease', 2, rows.length, leaseJobsSql)
    const values: Value[] = [...shared]
    for (const [seq, attemptId] of rows) values.push(seq, attemptId)
    tables.statement(sql).run(...values)
    return true
  }
  const lent = taken.map(({ seq }, i): Lent => [seq, attemptIds[i]!])
  inBulk(tables, lent, { many: run, one: row => run([row]) })
  tables.leases.begin(
    token,
    until,
    taken.map(({ seq }) => seq),
  )
  return taken.map(({ row, cold, seq }, i) => {
    const kind = kinds.indexOf(cold.kind)
    const tallies = tables.tallies.of(cold.spec.tenant)
    tallies.add(cold.line, kind, WAITING, -1)
    tallies.add(cold.line, kind, RUNNING, 1)
    tables.leased.set(cold.id, seq, 1)
    const held: Lease = { token, owner, attemptId: attemptIds[i]!, claimedAt: now, until }
    return toJob(leasedRow(row, held), cold)
  })
}
