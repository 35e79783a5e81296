// Due and waiting → running. While everything due fits, it is simply taken; under contention what
// is due is made ready in bites and the lanes take turns. Core decides who; this file finds them.

import { takeTurns, type Candidate } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import type { ClaimRequest } from '../store.ts'
import { bulkSql, inBulk } from './bulk.ts'
import { dueFrom, laneCandidates, promote } from './contention.ts'
import { dueColumns, leaseJobsSql, type DueRow } from './columns.ts'
import { kinds, RUNNING, WAITING } from '../shared/codes.ts'
import type { Row, Value } from './driver.ts'
import { readDamage } from './damage.ts'
import { assertCounters, leasedJob, type Cold } from './record.ts'
import { takeRuled } from './ruled.ts'
import type { Lent, Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { parseBody, type Told } from '../shared/told.ts'

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
  if (request.isRuled || request.within) {
    promote(tables, due, request)
    const taken = takeRuled(tables, lines, request).flatMap(row => asFound(tables, row))
    return lease(tables, taken, request)
  }
  const cursor = fromKey(key)
  const count = due.reduce((sum, { timed, ready }) => sum + timed + ready, 0)
  if (!isCrowd && count <= limit) {
    const found = due.flatMap(({ line, timed, ready }) => [
      ...(timed > 0 ? tables.packedAll(dueColumns, timedSql, line, now, limit) : []),
      ...(ready > 0 ? tables.packedAll(dueColumns, readySql, line, now, limit) : []),
    ])
    const { taken } = takeTurns(
      found.flatMap(row => asFound(tables, row)),
      cursor,
      limit,
    )
    return lease(tables, taken, request)
  }
  promote(tables, due, request)
  const found = laneCandidates(tables, lines, {
    cursor: key,
    now,
    limit: limit + (isCrowd ? 1 : 0),
  })
  const turns = takeTurns(
    found.flatMap(row => asFound(tables, row)),
    cursor,
    limit,
  )
  // It was no crowd after all: nobody had to wait for a turn.
  const isAll = isCrowd && found.length <= limit
  if (!isAll && turns.cursor !== cursor) moveCursor(tables, queue, turns.cursor)
  return lease(tables, turns.taken, request)
}

function moveCursor(tables: Tables, queue: string, cursor: string): void {
  tables
    .statement(
      `insert into queues (queue, cursor) values (?, ?)
        on conflict (queue) do update set cursor = excluded.cursor`,
    )
    .run(toKey(queue), toKey(cursor))
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
