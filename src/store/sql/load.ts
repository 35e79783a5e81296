// Entries of another store, written as they are. Whatever is there already is compared.

import {
  entryOwnerless,
  entryTaken,
  entryTypes,
  isSameEntry,
  ownerOf,
  type AttemptEntry,
  type Entry,
  type JobEntry,
  type LogEntry,
  type ProgressEntry,
  type PrunedEntry,
  type QueueEntry,
  type RecordEntry,
  type SkipEntry,
} from '../../core/stored/entry.ts'
import type { Instant } from '../../core/time.ts'
import { toKey } from '../shared/text.ts'
import { attemptColumns, attemptValues } from './attempt-row.ts'
import { skipColumns } from './commit.ts'
import type { Sql } from './dialect.ts'
import { entryAt } from './dump.ts'
import { insertJob, marksFor } from './insert.ts'
import { get } from './jobs-query.ts'
import { rowOf, rowsOf, type Operation, type Value } from './operation.ts'
import { recordColumns } from './records.ts'
import { lineColumns, lineValues, progressColumns, progressValues } from './reports.ts'

export function* load(sql: Sql, entries: readonly Entry[], now: Instant): Operation<void> {
  const loading: Loading = { sql, now, seqs: new Map() }
  for (const type of entryTypes) {
    for (const entry of entries) if (entry.type === type) yield* write(loading, entry)
  }
}

/** One call to `load`, inside its transaction. */
interface Loading {
  readonly sql: Sql
  readonly now: Instant
  /** Of the jobs the entries belong to. */
  readonly seqs: Map<string, number>
}

function write(loading: Loading, entry: Entry): Operation<void> {
  switch (entry.type) {
    case 'queue':
      return queue(loading, entry)
    case 'job':
      return job(loading, entry)
    case 'attempt':
      return attempt(loading, entry)
    case 'skip':
      return skip(loading, entry)
    case 'progress':
      return progress(loading, entry)
    case 'log':
      return log(loading, entry)
    case 'pruned':
      return pruned(loading, entry)
    case 'record':
      return record(loading, entry)
  }
}

function compare(entry: Entry, held: Entry | null): void {
  if (held === null || !isSameEntry(held, entry)) throw entryTaken(entry)
}

interface NewRow {
  readonly table: string
  readonly columns: string
  readonly values: readonly Value[]
  /** What the dump of its type is ordered by. */
  readonly key: readonly Value[]
}

function* insertOrCompare({ sql }: Loading, entry: Entry, row: NewRow): Operation<void> {
  const { table, columns, values, key } = row
  const made = yield* rowsOf(
    `insert into ${table} (${columns}) values (${marksFor(columns)})
      on conflict do nothing returning 1`,
    ...values,
  )
  if (made.length === 0) compare(entry, yield* entryAt(sql, entry.type, key))
}

function* queue({ sql }: Loading, entry: QueueEntry): Operation<void> {
  const key = toKey(entry.queue)
  const held = (yield* entryAt(sql, 'queue', [key])) as QueueEntry | null
  const isNew = held === null || (!held.isPaused && held.lane === '')
  if (!isNew) return compare(entry, held)
  yield* rowsOf(
    `insert into queues (queue, paused, turn_lane) values (?, ?, ?) on conflict (queue) do update
      set paused = excluded.paused, turn_lane = excluded.turn_lane`,
    key,
    entry.isPaused ? 1 : 0,
    toKey(entry.lane),
  )
}

function* job({ sql, now }: Loading, entry: JobEntry): Operation<void> {
  if (yield* insertJob(sql, entry.job, now)) return
  const [held] = yield* get(sql, [entry.job.id])
  compare(entry, held ? { type: 'job', job: held } : null)
}

function* attempt(loading: Loading, entry: AttemptEntry): Operation<void> {
  const values = attemptValues(yield* ownerSeq(loading, entry), entry.attempt)
  const key = [toKey(entry.attempt.id)]
  yield* insertOrCompare(loading, entry, {
    table: 'attempts',
    columns: attemptColumns,
    values,
    key,
  })
}

function* skip(loading: Loading, entry: SkipEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const { from, to, count, reason, clockEpoch = 0 } = entry.skip
  const values = [seq, from, to, count, reason, clockEpoch, entry.expireAt]
  const key = [seq, from]
  yield* insertOrCompare(loading, entry, { table: 'skips', columns: skipColumns, values, key })
}

function* progress(loading: Loading, entry: ProgressEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const values = progressValues(seq, entry.progress)
  const columns = progressColumns
  yield* insertOrCompare(loading, entry, { table: 'progress', columns, values, key: [seq] })
}

function* log(loading: Loading, entry: LogEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const key = [toKey(entry.attemptId), entry.n]
  const values = [...key, seq, ...lineValues(entry.line)]
  yield* insertOrCompare(loading, entry, { table: 'log_lines', columns: lineColumns, values, key })
}

function* pruned({ sql }: Loading, entry: PrunedEntry): Operation<void> {
  const { kind, state, count } = entry
  const [tenant, name, handler] = [toKey(entry.tenant), toKey(entry.queue), toKey(entry.handler)]
  const held = yield* entryAt(sql, 'pruned', [tenant, name, handler, kind, state])
  if (held !== null && (held as PrunedEntry).count > 0) return compare(entry, held)
  sql.counts.add({ tenant, queue: name, handler, kind, state }, 0, count)
}

function* record(loading: Loading, entry: RecordEntry): Operation<void> {
  const { value, version, expireAt } = entry.record
  const key = [toKey(entry.record.kind), toKey(entry.record.key)]
  const values = [...key, JSON.stringify(value ?? null), version, expireAt]
  yield* insertOrCompare(loading, entry, { table: 'records', columns: recordColumns, values, key })
}

function* ownerSeq({ seqs }: Loading, entry: Entry): Operation<number> {
  const id = ownerOf(entry)!
  const known = seqs.get(id)
  if (known !== undefined) return known
  const row = yield* rowOf<[number]>('select seq from jobs where id = ?', toKey(id))
  if (!row) throw entryOwnerless(entry)
  seqs.set(id, row[0])
  return row[0]
}
