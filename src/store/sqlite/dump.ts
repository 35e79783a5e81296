// Everything the database holds, told piece by piece in the order of its primary keys.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
} from '../../core/entry.ts'
import type { SkipReason } from '../../core/ledger.ts'
import type { DumpRequest, Page } from '../store.ts'
import { jobColumns } from './columns.ts'
import { kinds, states } from '../shared/codes.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'
import { ID_AT, readColumns, toAttempt } from './attempt.ts'
import { recordColumns, toRecord } from './records.ts'
import { readProgress, toLine, type LineRow } from './reports.ts'
import type { Tables } from './tables.ts'
import { fromKey } from '../shared/text.ts'

export function dump(tables: Tables, { cursor, limit }: DumpRequest): Page<Entry> {
  const { type, mark } = dumpPlace(cursor)
  const found = tables.read(() => sections[type](tables, mark === null ? null : keyOf(mark), limit))
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const next = found.length > limit && last ? JSON.stringify(last.key) : null
  return { items: items.map(({ entry }) => entry), cursor: dumpCursor(type, next) }
}

function keyOf(mark: string): Value[] {
  return JSON.parse(mark) as Value[]
}

interface Told {
  readonly key: Value[]
  readonly entry: Entry
}

/** Reads behind the key, one more than asked for if there is one. */
type Section = (tables: Tables, key: Value[] | null, limit: number) => Told[]

const sections: Readonly<Record<EntryType, Section>> = {
  queue: queues,
  job: jobs,
  attempt: attempts,
  skip: skips,
  progress,
  log: lines,
  pruned,
  record: records,
}

/** `keys` are the columns of the key, which the query must have an index for. */
function behind(
  tables: Tables,
  query: { readonly select: string; readonly keys: readonly string[]; readonly where?: string },
  key: Value[] | null,
  limit: number,
): Row[] {
  const columns = query.keys.join(', ')
  const conditions = [
    ...(query.where === undefined ? [] : [query.where]),
    ...(key === null ? [] : [`(${columns}) > (${query.keys.map(() => '?').join(', ')})`]),
  ]
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const sql = `${query.select} ${where} order by ${columns} limit ?`
  return tables.statement(sql).all(...(key ?? []), limit + 1)
}

export const queueSelect = 'select queue, paused, cursor from queues'

export function toQueue(row: Row): Entry {
  const [queue, paused, lane] = row as [string, number, string]
  return { type: 'queue', queue: fromKey(queue), isPaused: paused === 1, lane: fromKey(lane) }
}

function queues(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const where = "(paused = 1 or cursor <> '')"
  const rows = behind(tables, { select: queueSelect, keys: ['queue'], where }, key, limit)
  return rows.map(row => ({ key: [row[0]!], entry: toQueue(row) }))
}

function jobs(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const select = `select ${jobColumns} from jobs`
  const rows = behind(tables, { select, keys: ['jobs.seq'] }, key, limit)
  return rows.map(row => ({ key: [row[0]!], entry: { type: 'job', job: tables.jobOf(row) } }))
}

/** The cross join keeps the history outermost: its own order is the one asked for. */
export const attemptSelect = `select ${readColumns}, jobs.id
  from attempts a cross join jobs on jobs.seq = a.job`

function attempts(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const rows = behind(tables, { select: attemptSelect, keys: ['a.id'] }, key, limit)
  return rows.map(row => ({ key: [row[ID_AT]!], entry: attemptEntry(toAttempt(row)) }))
}

export const skipSelect = `select s.job, s.first_at, s.last_at, s.count, s.reason, s.expire_at,
  jobs.id from skips s cross join jobs on jobs.seq = s.job`

type SkipRow = [number, number, number, number, SkipReason, number, string]

export function toSkip(row: Row): Entry {
  const [, from, to, count, reason, expireAt, id] = row as SkipRow
  return { type: 'skip', skip: { jobId: fromKey(id), from, to, count, reason }, expireAt }
}

function skips(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const query = { select: skipSelect, keys: ['s.job', 's.first_at'] }
  const rows = behind(tables, query, key, limit)
  return rows.map(row => ({ key: [row[0]!, row[1]!], entry: toSkip(row) }))
}

function progress(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const select = 'select p.job, jobs.id from progress p cross join jobs on jobs.seq = p.job'
  const rows = behind(tables, { select, keys: ['p.job'] }, key, limit) as [number, string][]
  return rows.map(([seq, id]) => ({
    key: [seq],
    entry: { type: 'progress', jobId: fromKey(id), progress: readProgress(tables, seq)! },
  }))
}

interface Logged {
  readonly job: number
  readonly attempt: string
  readonly jobId: string
}

const loggedSql = `select g.job, g.attempt, jobs.id from logged g cross join jobs on jobs.seq = g.job
  where (g.job, g.attempt) >= (?, ?) order by g.job, g.attempt limit ?`

/** Attempt by attempt: each has at least one line, so none is looked at in vain. */
function lines(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const [job, attempt, n] = key ?? [0, '', -1]
  const logged = tables.statement(loggedSql).all(job!, attempt!, limit + 1) as [
    number,
    string,
    string,
  ][]
  const told: Told[] = []
  for (const [of, id, jobId] of logged) {
    const from = of === job && id === attempt ? (n as number) : -1
    told.push(...linesOf(tables, { job: of, attempt: id, jobId }, from, limit + 1 - told.length))
    if (told.length > limit) break
  }
  return told
}

export const lineSelect = 'select n, at, level, message, fields from logs where attempt = ?'

function linesOf(tables: Tables, logged: Logged, from: number, limit: number): Told[] {
  const { job, attempt, jobId } = logged
  const sql = `${lineSelect} and n > ? order by n limit ?`
  const rows = tables.statement(sql).all(attempt, from, limit) as LineRow[]
  const owner = { jobId: fromKey(jobId), attemptId: fromKey(attempt) }
  return rows.map(row => ({
    key: [job, attempt, row[0]],
    entry: { type: 'log', ...owner, n: row[0], line: toLine(row) },
  }))
}

function pruned(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const select = 'select tenant, line, kind, state, pruned from tallies'
  const keys = ['tenant', 'line', 'kind', 'state']
  const rows = behind(tables, { select, keys, where: 'pruned > 0' }, key, limit)
  return rows.map(row => {
    const [tenant, line, kind, state, count] = row as [string, number, number, number, number]
    const of = { ...tables.lines.nameOf(line), kind: kinds[kind]!, state: states[state]! }
    return {
      key: [tenant, line, kind, state],
      entry: { type: 'pruned', tenant: fromKey(tenant), ...of, count },
    }
  })
}

function records(tables: Tables, key: Value[] | null, limit: number): Told[] {
  const select = `select ${recordColumns} from records`
  const rows = behind(tables, { select, keys: ['kind', 'key'] }, key, limit)
  return rows.map(row => ({
    key: [row[0]!, row[1]!],
    entry: { type: 'record', record: toRecord(row) },
  }))
}
