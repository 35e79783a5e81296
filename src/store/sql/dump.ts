// Everything the database holds, piece by piece in the order of its keys.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
} from '../../core/stored/entry.ts'
import type { SkipReason } from '../../core/history/ledger.ts'
import type { Job, State } from '../../core/job.ts'
import type { DumpRequest } from '../maintenance.ts'
import type { Page } from '../port.ts'
import { fromKey } from '../shared/text.ts'
import { readColumns, toAttempt } from './attempt-row.ts'
import type { Sql } from './dialect.ts'
import { jobColumns, readJob } from './job-row.ts'
import { rowOf, rowsOf, type Operation, type Row, type Value } from './operation.ts'
import { whereAll } from './paging.ts'
import { readRecord, recordColumns } from './records.ts'
import { toLine, toProgress } from './reports.ts'

export function* dump(sql: Sql, { cursor, limit }: DumpRequest): Operation<Page<Entry>> {
  const { type, mark } = dumpPlace(cursor)
  const section = sections[type](sql)
  const key = mark === null ? [] : (JSON.parse(mark) as Value[])
  const columns = section.keys.join(', ')
  const behind = `(${columns}) > (${section.keys.map(() => '?').join(', ')})`
  const rows = yield* rowsOf(
    `select ${columns}, ${section.columns} from ${section.from}
      ${whereAll([section.where ?? null, key.length === 0 ? null : behind])}
      order by ${columns} limit ?`,
    ...key,
    limit + 1,
  )
  const width = section.keys.length
  const items = rows.slice(0, limit).flatMap(row => section.toEntry(row.slice(width)) ?? [])
  const last = rows.length > limit ? rows[limit - 1]!.slice(0, width) : null
  return { items, cursor: dumpCursor(type, last === null ? null : JSON.stringify(last)) }
}

/** What is there under the key of its section. */
export function* entryAt(
  sql: Sql,
  type: EntryType,
  key: readonly Value[],
): Operation<Entry | null> {
  const { columns, from, keys, toEntry } = sections[type](sql)
  const where = whereAll(keys.map(name => `${name} = ?`))
  const row = yield* rowOf(`select ${columns} from ${from} ${where}`, ...key)
  return row ? toEntry(row) : null
}

/** One type of entries: where its rows are, and the key they are ordered by. */
interface Section {
  readonly columns: string
  readonly from: string
  readonly keys: readonly string[]
  readonly where?: string
  /** Null for what does not decode. */
  readonly toEntry: (row: Row) => Entry | null
}

const sections: Readonly<Record<EntryType, (sql: Sql) => Section>> = {
  queue: () => ({
    columns: queueColumns,
    from: 'queues',
    keys: ['queue'],
    where: isTold,
    toEntry: toQueue,
  }),
  job: sql => ({
    columns: jobColumns,
    from: `jobs j ${sql.dialect.crossJoin} job_states s on s.seq = j.seq`,
    keys: ['j.seq'],
    toEntry: row => ({ type: 'job', job: readJob(sql, row) }),
  }),
  attempt: sql => ({
    columns: readColumns,
    from: `attempts a ${sql.dialect.crossJoin} jobs j on j.seq = a.job`,
    keys: ['a.id'],
    toEntry: row => attemptEntry(toAttempt(row)),
  }),
  skip: sql => ({
    columns: skipColumns,
    from: `skips k ${sql.dialect.crossJoin} jobs j on j.seq = k.job`,
    keys: ['k.job', 'k.first_at'],
    toEntry: toSkip,
  }),
  progress: sql => ({
    columns: 'j.id, p.attempt_id, p.fraction, p.note, p.checkpoint, p.updated_at',
    from: `progress p ${sql.dialect.crossJoin} jobs j on j.seq = p.job`,
    keys: ['p.job'],
    toEntry: ([id, ...row]) => ({
      type: 'progress',
      jobId: fromKey(id as string),
      progress: toProgress(row),
    }),
  }),
  log: sql => ({
    columns: 'j.id, l.attempt_id, l.n, l.at, l.level, l.message, l.fields',
    from: `log_lines l ${sql.dialect.crossJoin} jobs j on j.seq = l.job`,
    keys: ['l.attempt_id', 'l.n'],
    toEntry: ([id, attempt, ...row]) => ({
      type: 'log',
      jobId: fromKey(id as string),
      attemptId: fromKey(attempt as string),
      n: row[0] as number,
      line: toLine(row),
    }),
  }),
  pruned: () => ({
    columns: 'tenant, queue, handler, kind, state, pruned',
    from: 'current_counts',
    keys: ['tenant', 'queue', 'handler', 'kind', 'state'],
    where: 'pruned > 0',
    toEntry: toPruned,
  }),
  record: sql => ({
    columns: recordColumns,
    from: 'records',
    keys: ['kind', 'key'],
    toEntry: row => {
      const [record] = readRecord(sql, row)
      return record === undefined ? null : { type: 'record', record }
    },
  }),
}

const queueColumns = 'queue, paused, turn_lane'
const isTold = "(paused = 1 or turn_lane <> '')"

function toQueue(row: Row): Entry {
  const [queue, paused, lane] = row as [string, number, string]
  return { type: 'queue', queue: fromKey(queue), isPaused: paused === 1, lane: fromKey(lane) }
}

const skipColumns = `k.first_at, k.last_at, k.count, k.reason, k.clock_epoch, k.expire_at, j.id`

// prettier-ignore
type SkipRow = [
  from: number, to: number, count: number, reason: SkipReason, clockEpoch: number,
  expireAt: number, id: string,
]

function toSkip(row: Row): Entry {
  const [from, to, count, reason, clockEpoch, expireAt, id] = row as SkipRow
  const epoch = clockEpoch === 0 ? {} : { clockEpoch }
  return { type: 'skip', skip: { jobId: fromKey(id), from, to, count, reason, ...epoch }, expireAt }
}

// prettier-ignore
type PrunedRow = [
  tenant: string, queue: string, handler: string, kind: Job['kind'], state: State, pruned: number,
]

function toPruned(row: Row): Entry {
  const [tenant, queue, handler, kind, state, count] = row as PrunedRow
  return {
    type: 'pruned',
    tenant: fromKey(tenant),
    queue: fromKey(queue),
    handler: fromKey(handler),
    kind,
    state,
    count,
  }
}
