// The usual end of attempts, prepared so that one script writes it with few commands if all leases
// still hold. Most of the work is here, because the server has one thread for everybody.

import type { Change } from '../../core/change.ts'
import { rankOf } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { attemptText, oddExpiry } from './attempt.ts'
import { kinds, states } from './codes.ts'
import { fenceText, leaseText, rowOf } from './row.ts'
import type { Known, Shelf } from './shelf.ts'
import { toKey } from './text.ts'

export interface Plain extends Known {
  readonly index: number
  readonly change: Change
}

/** A change of a leased job that needs no look at anything but its lease. */
export function plainOf(shelf: Shelf, change: Change, index: number): Plain | null {
  const { token, specChanged, inserts, records, skips, job } = change
  if (token === null || specChanged) return null
  if (inserts.length > 0 || records.length > 0 || skips.length > 0) return null
  const known = shelf.known.get(job.id)
  return known === undefined ? null : { seq: known.seq, specAt: known.specAt, index, change }
}

/** Most of what ends is never looked at again. */
export function forget(shelf: Shelf, job: Job, seq: string): void {
  if (job.lease !== null) return
  shelf.known.delete(job.id, 1)
  if (job.ended !== null) shelf.colds.drop(seq)
}

/** Jobs that come to the same place, one behind the other in what the script is given. */
interface Group {
  readonly words: readonly string[]
  readonly members: Plain[]
  /** One score for all, or one for each. */
  readonly shared: string
  readonly scores: string[]
}

/** What `settle` takes. */
export function addSettle(args: string[], plain: readonly Plain[], now: Instant): void {
  const groups = [...groupsOf(plain, now).values()]
  const ordered = groups.flatMap(({ members }) => members)
  const rest = [...groups.flatMap(groupWords), ...restWords(plain)]
  args.push(String(plain.length), String(rest.length + 1))
  for (const { seq } of ordered) args.push(seq)
  for (const { change } of ordered) args.push(fenceText(change.expectedVersion, change.token!))
  for (const { change, specAt } of ordered) args.push(rowOf(change.job, specAt, now))
  for (const { change } of ordered) {
    args.push(change.attempt === null ? '' : attemptText(change.attempt))
  }
  args.push(String(groups.length))
  for (const word of rest) args.push(word)
}

function groupsOf(plain: readonly Plain[], now: Instant): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const one of plain) {
    const { name, words, shared, score } = endOf(one.change, now)
    const held = groups.get(name)
    if (held) {
      held.members.push(one)
      held.scores.push(score)
    } else groups.set(name, { words, shared, members: [one], scores: [score] })
  }
  return groups
}

function groupWords({ words, members, shared, scores }: Group): string[] {
  const [kind, clears, ...more] = words
  const begin = [kind!, clears!, String(members.length)]
  if (kind === 'none') return begin
  if (kind === 'kept') return [...begin, ...scores]
  if (kind !== 'ready') return [...begin, ...more, shared, ...(shared === '' ? scores : [])]
  const latest = Math.max(...members.map(({ change }) => change.job.dueAt!))
  return [...begin, ...more, String(latest), shared, ...(shared === '' ? scores : [])]
}

interface End {
  readonly name: string
  readonly words: readonly string[]
  readonly shared: string
  /** Beside the job: its score, or its lease if that is kept. */
  readonly score: string
}

/** Where a job comes to stand, as `place` has it in scripts; equal names are written together. */
function endOf({ job, clearsCheckpoint }: Change, now: Instant): End {
  const clears = clearsCheckpoint ? '1' : '0'
  const { state, dueAt, expireAt, spec } = job
  const end = (words: readonly string[], score: string, isShared = false): End => {
    const all = [words[0]!, clears, ...words.slice(1)]
    const shared = isShared ? score : ''
    return { name: `${all.join(' ')} ${shared}`, words: all, shared, score }
  }
  if (job.lease !== null) return end(['kept'], leaseText(job))
  const [queue, line] = lineOf(spec)
  if (expireAt !== null) {
    return end(['set', `exp:${kinds.indexOf(job.kind)}:${queue}`], String(expireAt), true)
  }
  if (state === 'waiting' && dueAt !== null && dueAt > now) {
    return end(['timed', `timed:${line}`], String(dueAt))
  }
  if (state === 'waiting' && dueAt !== null) {
    return end(['ready', line, toKey(spec.lane)], String(rankOf(dueAt, spec.priority)))
  }
  const until = state === 'paused' && job.pause !== null ? job.pause.until : null
  return until === null ? end(['none'], '') : end(['set', 'pauses'], String(until))
}

const linesOf = new WeakMap<JobSpec, readonly [queue: string, line: string]>()

function lineOf(spec: JobSpec): readonly [queue: string, line: string] {
  const held = linesOf.get(spec)
  if (held) return held
  const queue = toKey(spec.queue)
  const made = [queue, `${queue}\0${toKey(spec.handler)}`] as const
  linesOf.set(spec, made)
  return made
}

/** Leases that end, leases that stay, what expires out of order, what is dropped, the tallies. */
function restWords(plain: readonly Plain[]): string[] {
  const ended = new Map<string, number>()
  const kept = new Map<string, Instant>()
  const odd: string[] = []
  const drops: string[] = []
  for (const { seq, change } of plain) {
    const { job, token, attempt, drop } = change
    if (job.lease === null) ended.set(token!, (ended.get(token!) ?? 0) + 1)
    else kept.set(token!, Math.min(kept.get(token!) ?? job.lease.until, job.lease.until))
    const expiry = attempt === null ? '' : oddExpiry(attempt)
    if (expiry !== '') odd.push(expiry, `${seq}\0${attempt!.number}`)
    if (drop !== null) drops.push(seq, String(drop.number), String(drop.finishedBefore))
  }
  return [
    String(ended.size),
    ...[...ended].flatMap(([token, count]) => [toKey(token), String(count)]),
    String(kept.size),
    ...[...kept].flatMap(([token, until]) => [String(until), toKey(token)]),
    String(odd.length / 2),
    ...odd,
    String(drops.length / 3),
    ...drops,
    ...tallyWords(plain),
  ]
}

/** From running to what they came to. */
function tallyWords(plain: readonly Plain[]): string[] {
  const moves = new Map<string, { words: string[]; count: number }>()
  for (const { change } of plain) {
    const { job } = change
    if (job.lease !== null) continue
    const [queue, line] = lineOf(job.spec)
    const { tenant } = job.spec
    const name = `${job.state} ${job.kind} ${line}\0${tenant}`
    const held = moves.get(name)
    if (held) held.count++
    else {
      const codes = [kinds.indexOf(job.kind), states.indexOf(job.state)].map(String)
      moves.set(name, { words: [toKey(tenant), line, queue, ...codes], count: 1 })
    }
  }
  const words = [...moves.values()].flatMap(move => [...move.words, String(move.count)])
  return [String(moves.size), ...words]
}
