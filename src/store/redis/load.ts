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
} from '../../core/stored/entry.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { decodeAttempt, encodeAttempt } from './attempt.ts'
import { skipText, toSkip } from './attempts.ts'
import { countField } from './counts.ts'
import { jobArgs } from './insert.ts'
import { get } from './jobs-query.ts'
import { recordText, toRecord } from './records.ts'
import { lineText, progressText, toLine, toProgress } from './reports.ts'
import type { RedisSession } from './session.ts'

export async function load(
  session: RedisSession,
  entries: readonly Entry[],
  now: Instant,
): Promise<void> {
  if (entries.length === 0) return
  const known = await knownOf(session, entries)
  for (const entry of entries) {
    const owner = ownerOf(entry)
    if (owner !== null && !known.seqs.has(owner) && !known.coming.has(owner)) {
      throw entryOwnerless(entry)
    }
  }
  const held = await Promise.all(entries.map(entry => heldEntry(session, entry, known)))
  const fresh = entries.filter((entry, i) => {
    const there = held[i] ?? null
    if (there !== null && !isSameEntry(there, entry)) throw entryTaken(entry)
    return there === null
  })
  if (fresh.length > 0) await session.run('load', [session.sender, String(now), ...argsOf(fresh)])
}

interface KnownJobs {
  readonly jobs: ReadonlyMap<string, Job>
  readonly coming: ReadonlySet<string>
  /** Of jobs that are there and own some of the entries. */
  readonly seqs: ReadonlyMap<string, string>
}

async function knownOf(session: RedisSession, entries: readonly Entry[]): Promise<KnownJobs> {
  const ids = entries.flatMap(entry => (entry.type === 'job' ? [entry.job.id] : []))
  const owners = [...new Set(entries.flatMap(entry => ownerOf(entry) ?? []))]
  const found = await get(session, ids)
  const seqs =
    owners.length === 0
      ? []
      : ((await session.send('HMGET', 'ids', ...owners.map(toKey))) as (string | null)[])
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
async function heldEntry(
  session: RedisSession,
  entry: Entry,
  known: KnownJobs,
): Promise<Entry | null> {
  switch (entry.type) {
    case 'queue':
      return heldQueue(session, entry.queue)
    case 'job': {
      const job = known.jobs.get(entry.job.id)
      return job ? { type: 'job', job } : null
    }
    case 'attempt':
      return heldAttempt(session, entry.attempt, known)
    case 'skip': {
      const { jobId, from } = entry.skip
      const seq = known.seqs.get(jobId)
      if (seq === undefined) return null
      const [text] = await atScore(session, `skips:${seq}`, from)
      if (text === undefined) return null
      const expireAt = Number(await ask(session, 'ZSCORE', 'skips:by-expiry', `${seq}\0${from}`))
      return { type: 'skip', skip: toSkip(text, jobId), expireAt }
    }
    case 'progress': {
      const seq = known.seqs.get(entry.jobId)
      const text = seq === undefined ? null : await ask(session, 'HGET', 'progress', seq)
      return text === null ? null : { ...entry, progress: toProgress(text) }
    }
    case 'log': {
      const text = await ask(session, 'LINDEX', `log:${toKey(entry.attemptId)}`, String(entry.n))
      return text === null ? null : { ...entry, line: toLine(text) }
    }
    case 'pruned': {
      const count = await ask(
        session,
        'HGET',
        `pruned:by-tenant:${toKey(entry.tenant)}`,
        countField(entry),
      )
      return count === null ? null : { ...entry, count: Number(count) }
    }
    case 'record': {
      const { kind, key } = entry.record
      const text = await ask(session, 'HGET', `records:${toKey(kind)}`, toKey(key))
      return text === null ? null : { type: 'record', record: toRecord(kind, toKey(key), text) }
    }
  }
}

async function ask(
  session: RedisSession,
  command: string,
  name: string,
  ...words: string[]
): Promise<string | null> {
  return (await session.send(command, name, ...words)) as string | null
}

async function atScore(session: RedisSession, name: string, score: number): Promise<string[]> {
  const bound = String(score)
  return (await session.send('ZRANGEBYSCORE', name, bound, bound)) as string[]
}

async function heldQueue(session: RedisSession, queue: string): Promise<Entry | null> {
  const name = toKey(queue)
  const [isMember, lane] = await Promise.all([
    session.send('SISMEMBER', 'queues:paused', name),
    ask(session, 'HGET', 'queues:turn', name),
  ])
  if (isMember !== 1 && lane === null) return null
  return { type: 'queue', queue, isPaused: isMember === 1, lane: fromKey(lane ?? '') }
}

/** Under its number, or under its id. */
async function heldAttempt(
  session: RedisSession,
  { jobId, id, number }: { jobId: string; id: string; number: number },
  known: KnownJobs,
): Promise<Entry | null> {
  const seq = known.seqs.get(jobId)
  if (seq === undefined) return null
  const field = `${seq}:${number}`
  const bounds = [`[${toKey(id)}\0`, `(${toKey(id)}\u0001`]
  const [held, names] = await Promise.all([
    ask(session, 'HGET', 'attempts', field),
    session.send('ZRANGEBYLEX', 'attempts:by-id', ...bounds) as Promise<string[]>,
  ])
  if (held !== null) return attemptEntry(decodeAttempt(held, jobId))
  const [other] = names
  if (other === undefined) return null
  const [, of, at] = other.split('\0')
  const text = await ask(session, 'HGET', 'attempts', `${of}:${at}`)
  return text === null ? null : attemptEntry(decodeAttempt(text, `job number ${of}`))
}

/** The script takes them in this order. */
function argsOf(entries: readonly Entry[]): string[] {
  return entryTypes.flatMap(type => {
    const given = entries.filter(entry => entry.type === type)
    return [String(given.length), ...given.flatMap(entry => entryArgs(entry))]
  })
}

function entryArgs(entry: Entry): string[] {
  switch (entry.type) {
    case 'queue':
      return [toKey(entry.queue), entry.isPaused ? '1' : '0', toKey(entry.lane)]
    case 'job':
      return jobArgs(entry.job)
    case 'attempt': {
      const { attempt } = entry
      return [toKey(attempt.jobId), encodeAttempt(attempt)]
    }
    case 'skip': {
      const { jobId, from } = entry.skip
      return [toKey(jobId), String(from), String(entry.expireAt), skipText(entry.skip)]
    }
    case 'progress':
      return [toKey(entry.jobId), progressText(entry.progress)]
    case 'log':
      return [toKey(entry.jobId), toKey(entry.attemptId), lineText(entry.line)]
    case 'pruned':
      return [toKey(entry.tenant), countField(entry), String(entry.count)]
    case 'record': {
      const { kind, key, expireAt } = entry.record
      return [toKey(kind), toKey(key), String(expireAt ?? ''), recordText(entry.record)]
    }
  }
}
