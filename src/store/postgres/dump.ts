// Everything the schema holds, told piece by piece in the order of its keys.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
} from '../../core/entry.ts'
import type { SkipReason } from '../../core/ledger.ts'
import type { DumpRequest } from '../maintenance.ts'
import type { Page } from '../port.ts'
import { coldColumns, jobColumns, type Row } from './columns.ts'
import { kinds, states } from '../shared/codes.ts'
import { attemptColumns, toAttempt } from './history.ts'
import { Query } from './paging.ts'
import { recordColumns, toRecord } from './records.ts'
import { lineColumns, progressColumns, toLine, toProgress } from './reports.ts'
import type { Tables } from './tables.ts'
import { fromKey } from '../shared/text.ts'

/** One type of entry: its key stands first in every row. */
export interface Section {
  readonly select: (s: string) => string
  readonly keys: readonly string[]
  readonly where?: string
  readonly toEntry: (tables: Tables, row: Row) => Entry
}

export async function dump(tables: Tables, request: DumpRequest): Promise<Page<Entry>> {
  const { type, mark } = dumpPlace(request.cursor)
  const { select, keys, where, toEntry } = sections[type]
  const query = new Query()
  if (where !== undefined) query.where(where)
  if (mark !== null) {
    const key = JSON.parse(mark) as string[]
    query.where(`(${keys.join(', ')}) > (${key.map(part => query.value(part)).join(', ')})`)
  }
  const found = await tables.connection.rows(
    `${select(tables.schema)} ${query.conditions} order by ${keys.join(', ')}
      limit ${query.value(request.limit + 1)}`,
    query.values,
  )
  const rows = found.slice(0, request.limit)
  const last = rows.at(-1)
  const next = found.length > rows.length && last ? last.slice(0, keys.length) : null
  const cursor = dumpCursor(type, next === null ? null : JSON.stringify(next))
  return { items: rows.map(row => toEntry(tables, row)), cursor }
}

const queues: Section = {
  select: s => `select q.queue, q.paused, q.cursor from ${s}.queues q`,
  keys: ['q.queue'],
  where: "(q.paused or q.cursor <> '')",
  toEntry: (_, [queue, paused, lane]) => ({
    type: 'queue',
    queue: fromKey(queue!),
    isPaused: paused === 't',
    lane: fromKey(lane!),
  }),
}

const jobs: Section = {
  select: s => `select ${jobColumns}, ${coldColumns}
    from ${s}.jobs j left join ${s}.specs x on x.seq = j.seq`,
  keys: ['j.seq'],
  toEntry: (tables, row) => ({ type: 'job', job: tables.jobOf(row) }),
}

const attempts: Section = {
  select: s => `select a.id, a.job, ${attemptColumns}, j.id
    from ${s}.attempts a join ${s}.jobs j on j.seq = a.job`,
  keys: ['a.id', 'a.job'],
  toEntry: (_, row) => attemptEntry(toAttempt(row.slice(2))),
}

const skips: Section = {
  select: s => `select k.job, k.first_at, k.last_at, k.count, k.reason, k.expire_at, j.id
    from ${s}.skips k join ${s}.jobs j on j.seq = k.job`,
  keys: ['k.job', 'k.first_at'],
  toEntry: (_, row) => ({
    type: 'skip',
    skip: {
      jobId: fromKey(row[6]!),
      from: Number(row[1]),
      to: Number(row[2]),
      count: Number(row[3]),
      reason: row[4] as SkipReason,
    },
    expireAt: Number(row[5]),
  }),
}

const progress: Section = {
  select: s => `select p.job, ${progressColumns}, j.id
    from ${s}.progress p join ${s}.jobs j on j.seq = p.job`,
  keys: ['p.job'],
  toEntry: (_, row) => ({
    type: 'progress',
    jobId: fromKey(row.at(-1)!),
    progress: toProgress(row.slice(1)),
  }),
}

const lines: Section = {
  select: s => `select l.attempt, ${lineColumns}, j.id
    from ${s}.logs l join ${s}.jobs j on j.seq = l.job`,
  keys: ['l.attempt', 'l.n'],
  toEntry: (_, row) => ({
    type: 'log',
    jobId: fromKey(row.at(-1)!),
    attemptId: fromKey(row[0]!),
    n: Number(row[1]),
    line: toLine(row.slice(1)),
  }),
}

const pruned: Section = {
  select: s => `select c.share, c.state, h.tenant, l.queue, l.handler, h.kind, c.pruned
    from ${s}.counted c join ${s}.shares h on h.id = c.share join ${s}.lines l on l.id = h.line`,
  keys: ['c.share', 'c.state'],
  where: 'c.pruned > 0',
  toEntry: (_, [, state, tenant, queue, handler, kind, count]) => ({
    type: 'pruned',
    tenant: fromKey(tenant!),
    queue: fromKey(queue!),
    handler: fromKey(handler!),
    kind: kinds[Number(kind)]!,
    state: states[Number(state)]!,
    count: Number(count),
  }),
}

const records: Section = {
  select: s => `select ${recordColumns} from ${s}.records r`,
  keys: ['r.kind', 'r.key'],
  toEntry: (_, row) => ({ type: 'record', record: toRecord(row) }),
}

export const sections: Readonly<Record<EntryType, Section>> = {
  queue: queues,
  job: jobs,
  attempt: attempts,
  skip: skips,
  progress,
  log: lines,
  pruned,
  record: records,
}
