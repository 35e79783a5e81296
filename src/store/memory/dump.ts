// Everything the memory store holds, told piece by piece.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
  type PrunedEntry,
} from '../../core/stored/entry.ts'
import type { Job, State } from '../../core/job.ts'
import type { DumpRequest } from '../maintenance.ts'
import type { Page } from '../port.ts'
import type { Rows } from './rows.ts'

export function dump(rows: Rows, { cursor, limit }: DumpRequest): Page<Entry> {
  const { type, mark } = dumpPlace(cursor)
  const from = mark === null ? 0 : Number(mark)
  const entries = told(rows, type)
  const items = entries.slice(from, from + limit)
  const next = from + items.length
  return { items, cursor: dumpCursor(type, next < entries.length ? String(next) : null) }
}

/** All of one type: nothing is written between the pages of a dump that is worth having. */
function told(rows: Rows, type: EntryType): Entry[] {
  switch (type) {
    case 'queue':
      return queues(rows)
    case 'job':
      return [...rows.jobs.values()].map(({ job }) => ({ type, job }))
    case 'attempt':
      return [...rows.attempts.values()].flat().map(({ attempt }) => attemptEntry(attempt))
    case 'skip':
      return [...rows.skips.values()].flat().map(held => ({ type, ...held }))
    case 'progress':
      return [...rows.progress].map(([jobId, progress]) => ({ type, jobId, progress }))
    case 'log':
      return lines(rows)
    case 'pruned':
      return [...rows.pruned].map(([key, count]) => prunedEntry(key, count))
    case 'record':
      return [...rows.records.values()].flatMap(ofKind =>
        [...ofKind.values()].map(record => ({
          type,
          record: { ...record, value: record.value ?? null },
        })),
      )
  }
}

function queues({ pausedQueues, cursors }: Rows): Entry[] {
  const names = new Set([...pausedQueues, ...cursors.keys()])
  return [...names].map(queue => {
    const isPaused = pausedQueues.has(queue)
    return { type: 'queue', queue, isPaused, lane: cursors.get(queue) ?? '' }
  })
}

/** What is left of attempts whose jobs are gone is not told. */
function lines(rows: Rows): Entry[] {
  return [...rows.logs].flatMap(([attemptId, { jobId, lines: held }]) =>
    rows.jobs.has(jobId)
      ? held.map((line, n) => ({ type: 'log' as const, jobId, attemptId, n, line }))
      : [],
  )
}

function prunedEntry(key: string, count: number): PrunedEntry {
  const [tenant, queue, handler, kind, state] = JSON.parse(key) as [
    string,
    string,
    string,
    Job['kind'],
    State,
  ]
  return { type: 'pruned', tenant, queue, handler, kind, state, count }
}
