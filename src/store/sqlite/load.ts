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
  type EntryType,
  type JobEntry,
  type LogEntry,
  type ProgressEntry,
  type PrunedEntry,
  type QueueEntry,
  type RecordEntry,
  type SkipEntry,
} from '../../core/entry.ts'
import type { Instant } from '../../core/time.ts'
import { bulkSql, inBulk } from './bulk.ts'
import { jobColumns } from './columns.ts'
import { kinds, states } from '../shared/codes.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { attemptSelect, lineSelect, queueSelect, skipSelect, toQueue, toSkip } from './dump.ts'
import { attemptColumns, insertAttemptsSql, pushAttempt, toAttempt } from './attempt.ts'
import { insertAll } from './insert.ts'
import { MARK } from './prune.ts'
import { recordColumns, toRecord } from './records.ts'
import { readProgress, toLine, type LineRow } from './reports.ts'
import type { Tables } from './tables.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'

export function load(tables: Tables, entries: readonly Entry[], now: Instant): void {
  if (entries.length === 0) return
  tables.write(() => {
    const writing = new Writing(tables, now)
    for (const type of entryTypes) writing.write(type, entries)
  })
}

/** One call to `load`, inside its transaction. */
class Writing {
  readonly #tables: Tables
  readonly #now: Instant
  readonly #seqs = new Map<string, number>()

  constructor(tables: Tables, now: Instant) {
    this.#tables = tables
    this.#now = now
  }

  write(type: EntryType, entries: readonly Entry[]): void {
    const given = entries.filter(entry => entry.type === type)
    if (type === 'job') return this.#jobs(given as JobEntry[])
    if (type === 'attempt') return this.#attempts(given as AttemptEntry[])
    for (const entry of given) this.#one(entry)
  }

  #one(entry: Entry): void {
    switch (entry.type) {
      case 'queue':
        return this.#queue(entry)
      case 'skip':
        return this.#skip(entry)
      case 'progress':
        return this.#progress(entry)
      case 'log':
        return this.#log(entry)
      case 'pruned':
        return this.#pruned(entry)
      case 'record':
        return this.#record(entry)
      case 'job':
      case 'attempt':
        // Written many at a time.
        return
    }
  }

  #owner(entry: Entry): number {
    const id = ownerOf(entry)!
    const known = this.#seqs.get(id)
    if (known !== undefined) return known
    const row = this.#tables.statement('select seq from jobs where id = ?').get(toKey(id))
    if (!row) throw entryOwnerless(entry)
    this.#seqs.set(id, row[0] as number)
    return row[0] as number
  }

  #jobs(entries: readonly JobEntry[]): void {
    const jobs = entries.map(({ job }) => job)
    const results = insertAll(this.#tables, jobs, this.#now)
    const held = new Map<string, JobEntry[]>()
    for (const [i, entry] of entries.entries()) {
      const { lease } = entry.job
      if (results[i] === 'exists') this.#compareJob(entry)
      else if (lease !== null) held.set(lease.token, [...(held.get(lease.token) ?? []), entry])
    }
    for (const [token, running] of held) {
      const until = Math.min(...running.map(({ job }) => job.lease!.until))
      const seqs = running.map(({ job }) => this.#seqOf(job.id))
      this.#tables.leases.begin(toKey(token), until, seqs)
    }
  }

  #seqOf(id: string): number {
    const row = this.#tables.statement('select seq from jobs where id = ?').get(toKey(id))
    return row![0] as number
  }

  #compareJob(entry: JobEntry): void {
    const sql = `select ${jobColumns} from jobs where id = ?`
    const [job] = this.#tables.jobs(sql, toKey(entry.job.id))
    this.#compare(entry, job ? { type: 'job', job } : null)
  }

  #compare(entry: Entry, held: Entry | null): void {
    if (held === null || !isSameEntry(held, entry)) throw entryTaken(entry)
  }

  #attempts(entries: readonly AttemptEntry[]): void {
    const tables = this.#tables
    if (entries.length === 0) return
    const insert = (group: readonly AttemptEntry[]) => {
      const sql = bulkSql('insert attempts', attemptColumns.length, group.length, insertAttemptsSql)
      const values: Value[] = []
      for (const entry of group) pushAttempt(values, this.#owner(entry), entry.attempt)
      tables.statement(sql).run(...values)
      return true
    }
    inBulk(tables, entries, {
      many: insert,
      one: entry => {
        const { id, number } = entry.attempt
        const row = tables
          .statement(`${attemptSelect} where a.id = ?1 or (a.job = ?2 and a.number = ?3)`)
          .get(toKey(id), this.#owner(entry), number)
        if (row) this.#compare(entry, attemptEntry(toAttempt(row)))
        else insert([entry])
      },
    })
    this.#pruneFrom(entries)
  }

  /** Pruning walks the attempts behind a mark: those that came in before it must be seen too. */
  #pruneFrom(entries: readonly AttemptEntry[]): void {
    const ids = entries.map(({ attempt }) => toKey(attempt.id))
    const first = ids.reduce((a, b) => (b < a ? b : a))
    this.#tables.statement('delete from marks where name = ? and value >= ?').run(MARK, first)
  }

  #queue(entry: QueueEntry): void {
    const queue = toKey(entry.queue)
    const row = this.#tables.statement(`${queueSelect} where queue = ?`).get(queue)
    const isNew = !row || (row[1] === 0 && row[2] === '')
    if (!isNew) return this.#compare(entry, toQueue(row))
    this.#tables
      .statement('insert or replace into queues (queue, paused, cursor) values (?, ?, ?)')
      .run(queue, entry.isPaused ? 1 : 0, toKey(entry.lane))
  }

  #skip(entry: SkipEntry): void {
    const seq = this.#owner(entry)
    const { from, to, count, reason } = entry.skip
    const { changes } = this.#tables
      .statement('insert or ignore into skips values (?, ?, ?, ?, ?, ?)')
      .run(seq, from, to, count, reason, entry.expireAt)
    if (Number(changes) === 1) return
    const row = this.#tables
      .statement(`${skipSelect} where s.job = ? and s.first_at = ?`)
      .get(seq, from)
    this.#compare(entry, toSkip(row!))
  }

  #progress(entry: ProgressEntry): void {
    const seq = this.#owner(entry)
    const { attemptId, fraction, note, checkpoint, at } = entry.progress
    const text = checkpoint === undefined ? null : JSON.stringify(checkpoint)
    const { changes } = this.#tables
      .statement('insert or ignore into progress values (?, ?, ?, ?, ?, ?)')
      .run(seq, toKey(attemptId), fraction, toKeyOrNull(note), text, at)
    if (Number(changes) === 1) return
    this.#compare(entry, { ...entry, progress: readProgress(this.#tables, seq)! })
  }

  #log(entry: LogEntry): void {
    const seq = this.#owner(entry)
    const attempt = toKey(entry.attemptId)
    const { at, level, message, fields } = entry.line
    const text = fields === null ? null : JSON.stringify(fields)
    const { changes } = this.#tables
      .statement('insert or ignore into logs values (?, ?, ?, ?, ?, ?)')
      .run(attempt, entry.n, at, level, toKey(message), text)
    if (Number(changes) === 1) {
      this.#tables.statement('insert or ignore into logged values (?, ?)').run(seq, attempt)
      return
    }
    const row = this.#tables.statement(`${lineSelect} and n = ?`).get(attempt, entry.n)
    this.#compare(entry, { ...entry, line: toLine(row as LineRow) })
  }

  #pruned(entry: PrunedEntry): void {
    const key = [
      this.#tables.lines.idOf(entry.queue, entry.handler),
      kinds.indexOf(entry.kind),
      states.indexOf(entry.state),
      toKey(entry.tenant),
    ]
    const row = this.#tables
      .statement(
        'select pruned from tallies where line = ? and kind = ? and state = ? and tenant = ?',
      )
      .get(...key)
    const held = row ? (row[0] as number) : 0
    if (held > 0) return this.#compare(entry, { ...entry, count: held })
    this.#tables
      .statement(
        `insert into tallies values (?, ?, ?, ?, 0, ?) on conflict (line, kind, state, tenant)
          do update set pruned = excluded.pruned`,
      )
      .run(...key, entry.count)
  }

  #record(entry: RecordEntry): void {
    const { kind, key, value, version, expireAt } = entry.record
    const { changes } = this.#tables
      .statement('insert or ignore into records values (?, ?, ?, ?, ?)')
      .run(toKey(kind), toKey(key), JSON.stringify(value ?? null), version, expireAt)
    if (Number(changes) === 1) return
    const row = this.#tables
      .statement(`select ${recordColumns} from records where kind = ? and key = ?`)
      .get(toKey(kind), toKey(key))
    this.#compare(entry, { type: 'record', record: toRecord(row!) })
  }
}
