// Entries of another store, written into memory as they are: first all are checked, then written.

import {
  attemptEntry,
  entryOwnerless,
  entryTaken,
  isSameEntry,
  ownerOf,
  type Entry,
  type PrunedEntry,
} from '../../core/stored/entry.ts'
import type { StoredRecord } from '../../core/record.ts'
import type { Rows } from './rows.ts'

export function load(rows: Rows, entries: readonly Entry[]): void {
  const coming = new Set(entries.flatMap(entry => (entry.type === 'job' ? [entry.job.id] : [])))
  for (const entry of entries) {
    const held = heldEntry(rows, entry)
    if (held !== null && !isSameEntry(held, entry)) throw entryTaken(entry)
    const owner = ownerOf(entry)
    if (owner !== null && !rows.jobs.has(owner) && !coming.has(owner)) throw entryOwnerless(entry)
  }
  for (const entry of entries) if (heldEntry(rows, entry) === null) put(rows, entry)
}

/** What is there where the entry belongs. */
function heldEntry(rows: Rows, entry: Entry): Entry | null {
  switch (entry.type) {
    case 'queue': {
      const { type, queue } = entry
      const isPaused = rows.pausedQueues.has(queue)
      const lane = rows.cursors.get(queue) ?? ''
      return isPaused || lane !== '' ? { type, queue, isPaused, lane } : null
    }
    case 'job': {
      const row = rows.jobs.get(entry.job.id)
      return row ? { type: 'job', job: row.job } : null
    }
    case 'attempt': {
      const { jobId, id, number } = entry.attempt
      const held = rows.attempts.get(jobId) ?? []
      const found = held.find(({ attempt }) => attempt.id === id || attempt.number === number)
      return found ? attemptEntry(found.attempt) : null
    }
    case 'skip': {
      const { jobId, from } = entry.skip
      const found = rows.skips.get(jobId)?.find(({ skip }) => skip.from === from)
      return found ? { type: 'skip', ...found } : null
    }
    case 'progress': {
      const progress = rows.progress.get(entry.jobId)
      return progress ? { ...entry, progress } : null
    }
    case 'log': {
      const log = rows.logs.get(entry.attemptId)
      const line = log?.lines[entry.n]
      return log && line ? { ...entry, jobId: log.jobId, line } : null
    }
    case 'pruned': {
      const count = rows.pruned.get(prunedKey(entry)) ?? 0
      return count > 0 ? { ...entry, count } : null
    }
    case 'record': {
      const { kind, key } = entry.record
      const record = rows.records.get(kind)?.get(key)
      return record ? { type: 'record', record } : null
    }
  }
}

function put(rows: Rows, entry: Entry): void {
  switch (entry.type) {
    case 'queue':
      if (entry.isPaused) rows.pausedQueues.add(entry.queue)
      if (entry.lane !== '') rows.cursors.set(entry.queue, entry.lane)
      return
    case 'job':
      rows.jobs.set(entry.job.id, { seq: ++rows.seq, job: entry.job })
      return
    case 'attempt': {
      const { attempt } = entry
      const held = listOf(rows.attempts, attempt.jobId)
      held.push({ attempt, expireAt: attempt.expireAt })
      held.sort((a, b) => a.attempt.number - b.attempt.number)
      return
    }
    case 'skip': {
      const { skip, expireAt } = entry
      const held = listOf(rows.skips, skip.jobId)
      held.push({ skip, expireAt })
      held.sort((a, b) => a.skip.from - b.skip.from)
      return
    }
    case 'progress':
      rows.progress.set(entry.jobId, entry.progress)
      return
    case 'log': {
      const { attemptId, jobId, n, line } = entry
      const lines = [...(rows.logs.get(attemptId)?.lines ?? [])]
      lines[n] = line
      rows.logs.set(attemptId, { jobId, lines })
      return
    }
    case 'pruned':
      rows.pruned.set(prunedKey(entry), entry.count)
      return
    case 'record': {
      const { record } = entry
      const ofKind = rows.records.get(record.kind) ?? new Map<string, StoredRecord>()
      rows.records.set(record.kind, ofKind)
      ofKind.set(record.key, record)
    }
  }
}

function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const held = lists.get(key) ?? []
  lists.set(key, held)
  return held
}

function prunedKey({ tenant, queue, handler, kind, state }: PrunedEntry): string {
  return JSON.stringify([tenant, queue, handler, kind, state])
}
