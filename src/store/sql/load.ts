// Entries of another store, written as they are. Whatever is there already is compared.

import {
  attemptEntry,
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
import { attemptColumns, attemptValues, readColumns, toAttempt } from './attempt-row.ts'
import { insertSkipSql } from './commit.ts'
import type { Sql } from './dialect.ts'
import { queueSelect, skipSelect, toQueue, toSkip } from './dump.ts'
import { insertJob, marksFor } from './insert.ts'
import { get } from './jobs-query.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'
import { recordColumns, toRecord } from './records.ts'
import {
  insertLineSql,
  insertProgressSql,
  lineValues,
  progressValues,
  readProgress,
  toLine,
} from './reports.ts'

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
      return queue(entry)
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
      return record(entry)
  }
}

function compare(entry: Entry, held: Entry | null): void {
  if (held === null || !isSameEntry(held, entry)) throw entryTaken(entry)
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

function* queue(entry: QueueEntry): Operation<void> {
  const key = toKey(entry.queue)
  const row = yield* rowOf(`${queueSelect} where queue = ?`, key)
  const isNew = !row || (row[1] === 0 && row[2] === '')
  if (!isNew) return compare(entry, toQueue(row))
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

const insertAttemptSql = `insert into attempts (${attemptColumns})
  values (${marksFor(attemptColumns)}) on conflict do nothing returning 1`

function* attempt(loading: Loading, entry: AttemptEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const { id, number } = entry.attempt
  const made = yield* rowsOf(insertAttemptSql, ...attemptValues(seq, entry.attempt))
  if (made.length > 0) return
  const row = yield* rowOf(
    `select ${readColumns} from attempts a join jobs j on j.seq = a.job
      where a.id = ? or (a.job = ? and a.number = ?)`,
    toKey(id),
    seq,
    number,
  )
  compare(entry, row ? attemptEntry(toAttempt(row)) : null)
}

function* skip(loading: Loading, entry: SkipEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const { from, to, count, reason, clockEpoch = 0 } = entry.skip
  const values = [seq, from, to, count, reason, clockEpoch, entry.expireAt]
  const made = yield* rowsOf(`${insertSkipSql} returning 1`, ...values)
  if (made.length > 0) return
  const row = yield* rowOf(`${skipSelect} where k.job = ? and k.first_at = ?`, seq, from)
  compare(entry, toSkip(row!))
}

function* progress(loading: Loading, entry: ProgressEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const values = progressValues(seq, entry.progress)
  const made = yield* rowsOf(
    `${insertProgressSql} on conflict (job) do nothing returning 1`,
    ...values,
  )
  if (made.length > 0) return
  compare(entry, { ...entry, progress: (yield* readProgress(seq))! })
}

function* log(loading: Loading, entry: LogEntry): Operation<void> {
  const seq = yield* ownerSeq(loading, entry)
  const attemptId = toKey(entry.attemptId)
  const made = yield* rowsOf(
    `${insertLineSql} on conflict (attempt_id, n) do nothing returning 1`,
    attemptId,
    entry.n,
    seq,
    ...lineValues(entry.line),
  )
  if (made.length > 0) return
  const row = yield* rowOf(
    'select n, at, level, message, fields from log_lines where attempt_id = ? and n = ?',
    attemptId,
    entry.n,
  )
  compare(entry, { ...entry, line: toLine(row!) })
}

function* pruned({ sql }: Loading, entry: PrunedEntry): Operation<void> {
  const { kind, state } = entry
  const key = {
    tenant: toKey(entry.tenant),
    queue: toKey(entry.queue),
    handler: toKey(entry.handler),
    kind,
    state,
  }
  const row = yield* rowOf<[number | null]>(
    `select sum(pruned) from current_counts
      where tenant = ? and queue = ? and handler = ? and kind = ? and state = ?`,
    key.tenant,
    key.queue,
    key.handler,
    kind,
    state,
  )
  const held = row?.[0] ?? 0
  if (held > 0) return compare(entry, { ...entry, count: held })
  sql.counts.add(key, 0, entry.count)
}

function* record(entry: RecordEntry): Operation<void> {
  const { kind, key, value, version, expireAt } = entry.record
  const made = yield* rowsOf(
    `insert into records (${recordColumns}) values (?, ?, ?, ?, ?)
      on conflict (kind, key) do nothing returning 1`,
    toKey(kind),
    toKey(key),
    JSON.stringify(value ?? null),
    version,
    expireAt,
  )
  if (made.length > 0) return
  const row = yield* rowOf(
    `select ${recordColumns} from records where kind = ? and key = ?`,
    toKey(kind),
    toKey(key),
  )
  compare(entry, { type: 'record', record: toRecord(row!) })
}
