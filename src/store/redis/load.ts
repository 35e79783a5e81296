// Entries of another store, written as they are. First it is looked at what is there; then one
// script writes what is not.

import {
  attemptEntry,
  entryOwnerless,
  entryTaken,
  entryTypes,
  isSameEntry,
  ownerOf,
  type Entry,
  type PrunedEntry,
} from '../../core/entry.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { attemptText, oddExpiry, parseAttempt } from './attempt.ts'
import { NUL } from './codes.ts'
import { kinds, states } from '../shared/codes.ts'
import { coldText } from './cold.ts'
import { toSkip } from './dump.ts'
import { jobArgs } from './insert.ts'
import { get } from './list.ts'
import { toRecord } from './records.ts'
import { lineText, progressText, toLine, toProgress } from './reports.ts'
import type { Shelf } from './shelf.ts'
import { fromKey, toKey } from '../shared/text.ts'

export async function load(shelf: Shelf, entries: readonly Entry[], now: Instant): Promise<void> {
  if (entries.length === 0) return
  const known = await knownOf(shelf, entries)
  for (const entry of entries) {
    const owner = ownerOf(entry)
    if (owner !== null && !known.seqs.has(owner) && !known.coming.has(owner)) {
      throw entryOwnerless(entry)
    }
  }
  const held = await Promise.all(entries.map(entry => heldEntry(shelf, entry, known)))
  const fresh = entries.filter((entry, i) => {
    const there = held[i] ?? null
    if (there !== null && !isSameEntry(there, entry)) throw entryTaken(entry)
    return there === null
  })
  if (fresh.length > 0) await shelf.run('load', [shelf.sender, ...argsOf(fresh, now)])
}

interface KnownJobs {
  readonly jobs: ReadonlyMap<string, Job>
  readonly coming: ReadonlySet<string>
  /** Of jobs that are there and own some of the entries. */
  readonly seqs: ReadonlyMap<string, string>
}

async function knownOf(shelf: Shelf, entries: readonly Entry[]): Promise<KnownJobs> {
  const { connection } = shelf
  const ids = entries.flatMap(entry => (entry.type === 'job' ? [entry.job.id] : []))
  const owners = [...new Set(entries.flatMap(entry => ownerOf(entry) ?? []))]
  const found = await get(shelf, ids)
  const seqs =
    owners.length === 0
      ? []
      : ((await connection.send('HMGET', `${connection.prefix}ids`, ...owners.map(toKey))) as (
          | string
          | null
        )[])
  const pairs = owners.flatMap((id, i): [string, string][] => {
    const seq = seqs[i] ?? null
    return seq === null ? [] : [[id, seq]]
  })
  return {
    jobs: new Map(found.map(job => [job.id, job])),
    coming: new Set(ids),
    seqs: new Map(pairs),
  }
}

/** What is there where the entry belongs. */
async function heldEntry(shelf: Shelf, entry: Entry, known: KnownJobs): Promise<Entry | null> {
  switch (entry.type) {
    case 'queue':
      return heldQueue(shelf, entry.queue)
    case 'job': {
      const job = known.jobs.get(entry.job.id)
      return job ? { type: 'job', job } : null
    }
    case 'attempt':
      return heldAttempt(shelf, entry.attempt, known)
    case 'skip': {
      const { jobId, from } = entry.skip
      const seq = known.seqs.get(jobId)
      if (seq === undefined) return null
      const [text] = await atScore(shelf, `sk:${seq}`, from)
      if (text === undefined) return null
      const expireAt = Number(await ask(shelf, 'ZSCORE', 'sx', `${seq}${NUL}${from}`))
      return { type: 'skip', skip: toSkip(text, jobId), expireAt }
    }
    case 'progress': {
      const seq = known.seqs.get(entry.jobId)
      const text = seq === undefined ? null : await ask(shelf, 'HGET', 'progress', seq)
      return text === null ? null : { ...entry, progress: toProgress(text) }
    }
    case 'log': {
      const text = await ask(shelf, 'LINDEX', `log:${toKey(entry.attemptId)}`, String(entry.n))
      return text === null ? null : { ...entry, line: toLine(text) }
    }
    case 'pruned': {
      const count = await ask(shelf, 'HGET', `tp:${toKey(entry.tenant)}`, prunedField(entry))
      return count === null ? null : { ...entry, count: Number(count) }
    }
    case 'record': {
      const { kind, key } = entry.record
      const text = await ask(shelf, 'HGET', `rec:${toKey(kind)}`, toKey(key))
      return text === null ? null : { type: 'record', record: toRecord(kind, toKey(key), text) }
    }
  }
}

async function ask(
  shelf: Shelf,
  command: string,
  key: string,
  ...words: string[]
): Promise<string | null> {
  const { connection } = shelf
  return (await connection.send(command, connection.prefix + key, ...words)) as string | null
}

async function atScore(shelf: Shelf, key: string, score: number): Promise<string[]> {
  const { connection } = shelf
  const bound = String(score)
  return (await connection.send('ZRANGEBYSCORE', connection.prefix + key, bound, bound)) as string[]
}

async function heldQueue(shelf: Shelf, queue: string): Promise<Entry | null> {
  const { connection } = shelf
  const name = toKey(queue)
  const [isMember, lane] = await Promise.all([
    connection.send('SISMEMBER', `${connection.prefix}paused`, name),
    ask(shelf, 'HGET', 'cursors', name),
  ])
  if (isMember !== 1 && lane === null) return null
  return { type: 'queue', queue, isPaused: isMember === 1, lane: fromKey(lane ?? '') }
}

/** Under its number, or under its id. */
async function heldAttempt(
  shelf: Shelf,
  { jobId, id, number }: { jobId: string; id: string; number: number },
  known: KnownJobs,
): Promise<Entry | null> {
  const seq = known.seqs.get(jobId)
  if (seq === undefined) return null
  const { connection } = shelf
  const key = `${toKey(id)}${NUL}`
  const [held, members] = await Promise.all([
    ask(shelf, 'HGET', 'h', `${seq}:${number}`),
    connection.send(
      'ZRANGEBYLEX',
      `${connection.prefix}ah`,
      `[${key}`,
      `(${toKey(id)}\u0001`,
    ) as Promise<string[]>,
  ])
  if (held !== null) return attemptEntry(parseAttempt(held, jobId))
  const [other] = members
  if (other === undefined) return null
  const [, of, at] = other.split(NUL)
  const text = await ask(shelf, 'HGET', 'h', `${of}:${at}`)
  return text === null ? null : attemptEntry(parseAttempt(text, `job number ${of}`))
}

function prunedField({ queue, handler, kind, state }: PrunedEntry): string {
  const codes = [kinds.indexOf(kind), states.indexOf(state)].map(String)
  return [toKey(queue), toKey(handler), ...codes].join(NUL)
}

/** The script takes them in this order. */
function argsOf(entries: readonly Entry[], now: Instant): string[] {
  return entryTypes.flatMap(type => {
    const given = entries.filter(entry => entry.type === type)
    return [String(given.length), ...given.flatMap(entry => entryArgs(entry, now))]
  })
}

function entryArgs(entry: Entry, now: Instant): string[] {
  switch (entry.type) {
    case 'queue':
      return [toKey(entry.queue), entry.isPaused ? '1' : '0', toKey(entry.lane)]
    case 'job':
      return jobArgs(entry.job, coldText(entry.job), now)
    case 'attempt': {
      const { attempt } = entry
      const place = [toKey(attempt.jobId), String(attempt.number), toKey(attempt.id)]
      return [...place, oddExpiry(attempt), attemptText(attempt)]
    }
    case 'skip': {
      const { jobId, from, to, count, reason } = entry.skip
      const text = [from, to, count, reason].join(NUL)
      return [toKey(jobId), String(from), String(entry.expireAt), text]
    }
    case 'progress':
      return [toKey(entry.jobId), progressText(entry.progress)]
    case 'log':
      return [toKey(entry.jobId), toKey(entry.attemptId), lineText(entry.line)]
    case 'pruned':
      return [toKey(entry.tenant), prunedField(entry), String(entry.count)]
    case 'record': {
      const { kind, key, version, expireAt, value } = entry.record
      const end = String(expireAt ?? '')
      const text = [version, end, JSON.stringify(value ?? null)].join(NUL)
      return [toKey(kind), toKey(key), end, text]
    }
  }
}
