// Entries of dumps ↔ the texts they are stored as, which `dump.lua` answers with and `load.lua` takes.

import { attemptEntry, type Entry, type EntryType } from '../../core/stored/entry.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { decodeAttempt, decodeSkip, encodeAttempt, encodeSkip } from './attempt.ts'
import { countField, parseCountField } from './counts.ts'
import { readRecord, recordText, toRecord } from './records.ts'
import { lineText, progressText, readProgress, toLine, toProgress } from './reports.ts'
import { decodeJob, jobArgs } from './row.ts'
import { flag } from './script-args.ts'
import type { RedisSession } from './session.ts'

export function encodeEntry(entry: Entry): string[] {
  switch (entry.type) {
    case 'queue':
      return [toKey(entry.queue), flag(entry.isPaused), toKey(entry.lane)]
    case 'job':
      return jobArgs(entry.job)
    case 'attempt':
      return [toKey(entry.attempt.jobId), encodeAttempt(entry.attempt)]
    case 'skip': {
      const { skip, expireAt } = entry
      return [toKey(skip.jobId), String(skip.from), String(expireAt), encodeSkip(skip)]
    }
    case 'progress':
      return [toKey(entry.jobId), progressText(entry.progress)]
    case 'log':
      return [toKey(entry.jobId), toKey(entry.attemptId), String(entry.n), lineText(entry.line)]
    case 'pruned':
      return [toKey(entry.tenant), countField(entry), String(entry.count)]
    case 'record': {
      const { kind, key, expireAt } = entry.record
      return [toKey(kind), toKey(key), String(expireAt ?? ''), recordText(entry.record)]
    }
  }
}

/** None for one that does not decode: damaged records are noted, progress and attempts are left out. */
export function readEntry(
  session: RedisSession,
  type: EntryType,
  texts: readonly string[],
): Entry[] {
  const [first, second, , fourth] = texts as [string, string, string, string]
  switch (type) {
    case 'progress': {
      const progress = readProgress(second)
      return progress === null ? [] : [{ type, jobId: fromKey(first), progress }]
    }
    case 'record':
      return readRecord(session, fromKey(first), second, fourth).map(record => ({ type, record }))
    default:
      return [decodeEntry(type, texts)]
  }
}

export function decodeEntry(type: EntryType, texts: readonly string[]): Entry {
  const [first, second, third, fourth] = texts as [string, string, string, string]
  switch (type) {
    case 'queue':
      return { type, queue: fromKey(first), isPaused: second === '1', lane: fromKey(third) }
    case 'job':
      return { type, job: decodeJob({ row: first, definition: second, lease: third }) }
    case 'attempt':
      return attemptEntry(decodeAttempt(second, fromKey(first)))
    case 'skip':
      return { type, skip: decodeSkip(fourth, fromKey(first)), expireAt: Number(third) }
    case 'progress':
      return { type, jobId: fromKey(first), progress: toProgress(second) }
    case 'log': {
      const line = toLine(fourth)
      return { type, jobId: fromKey(first), attemptId: fromKey(second), n: Number(third), line }
    }
    case 'pruned':
      return { type, tenant: fromKey(first), ...parseCountField(second), count: Number(third) }
    case 'record':
      return { type, record: toRecord(fromKey(first), second, fourth) }
  }
}
