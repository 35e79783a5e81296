// The usual end of attempts, prepared so that one script writes it with few commands if all leases
// still hold. Most of the work is here, because the server has one thread for everybody.

import type { Change } from '../../core/change.ts'
import { rankOf } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { attemptHead, attemptTail, oddExpiry } from './attempt.ts'
import { kinds, states } from '../shared/codes.ts'
import { LIVE, markOfJob } from '../shared/marks.ts'
import { hasOnlyPuts } from '../shared/plain.ts'
import { fenceText, leaseText, rowOf, whereOf } from './row.ts'
import { GLUE, NO_ATTEMPT } from './scripts/settle.ts'
import type { Known, Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

export interface Plain extends Known {
  readonly index: number
  readonly change: Change
}

/** A change of a leased job that needs no look at anything but its lease. */
export function plainOf(shelf: Shelf, change: Change, index: number): Plain | null {
  const { token, specChanged, inserts, skips, job } = change
  if (token === null || specChanged) return null
  if (inserts.length > 0 || !hasOnlyPuts(change) || skips.length > 0) return null
  if (holdsGlue(change)) return null
  const known = shelf.known.get(job.id)
  return known === undefined ? null : { seq: known.seq, specAt: known.specAt, index, change }
}

/** JSON holds no such character as it is; names might. */
function holdsGlue({ token, attempt, job }: Change): boolean {
  return (
    hasGlue(whereOf(job.spec)) || hasGlue(token!) || (attempt !== null && attempt.id.includes(GLUE))
  )
}

/** Texts that most jobs of a batch share, and so are looked at once. */
const lately: string[] = ['', '']

function hasGlue(text: string): boolean {
  if (text === lately[0] || text === lately[1]) return false
  if (text.includes(GLUE)) return true
  lately.unshift(text)
  lately.length = 2
  return false
}

/** Most of what ends is never looked at again. */
export function forget(shelf: Shelf, job: Job, seq: string): void {
  if (job.lease !== null) return
  shelf.known.delete(job.id)
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
  if (plain.length === 0) {
    args.push('0', '0')
    return
  }
  const groups = [...groupsOf(plain, now).values()]
  const ordered = groups.flatMap(({ members }) => members)
  const rest = [...groups.flatMap(groupWords), ...restWords(plain)]
  args.push(String(plain.length), String(rest.length + 6))
  args.push(ordered.map(({ seq }) => seq).join(GLUE))
  args.push(fencesOf(ordered))
  args.push(glued(ordered, ({ change, specAt }) => rowOf(change.job, specAt, now)))
  args.push(
    glued(ordered, ({ change: { attempt } }) =>
      attempt === null ? NO_ATTEMPT : attemptHead(attempt),
    ),
  )
  args.push(
    glued(ordered, ({ change: { attempt } }) => (attempt === null ? '' : attemptTail(attempt))),
  )
  args.push(String(groups.length))
  for (const word of rest) args.push(word)
}

/** What says the same as the one before it is left out. */
function glued(ordered: readonly Plain[], textOf: (plain: Plain) => string): string {
  let last = ''
  const pieces = ordered.map(plain => {
    const text = textOf(plain)
    if (text === last) return ''
    last = text
    return text
  })
  return pieces.join(GLUE)
}

function fencesOf(ordered: readonly Plain[]): string {
  let last: Change | null = null
  const pieces = ordered.map(({ change }) => {
    const { token, expectedVersion } = change
    const isSame = last?.token === token && last.expectedVersion === expectedVersion
    last = change
    return isSame ? '' : fenceText(expectedVersion, token!)
  })
  return pieces.join(GLUE)
}

function groupsOf(plain: readonly Plain[], now: Instant): Map<string, Group> {
  const groups = new Map<string, Group>()
  let last: { change: Change; group: Group } | null = null
  for (const one of plain) {
    const { change } = one
    // Most come to where the one before came to.
    if (last !== null && isAlike(last.change, change) && last.group.shared !== '') {
      last.group.members.push(one)
      continue
    }
    const { name, words, shared, score } = endOf(change, now)
    const group = groups.get(name) ?? { words, shared, members: [], scores: [] }
    groups.set(name, group)
    group.members.push(one)
    group.scores.push(score)
    last = { change, group }
  }
  return groups
}

function isAlike(a: Change, b: Change): boolean {
  return (
    a.job.expireAt === b.job.expireAt &&
    a.clearsCheckpoint === b.clearsCheckpoint &&
    a.job.lease === null &&
    b.job.lease === null &&
    isSameLine(a.job, b.job)
  )
}

function isSameLine(a: Job, b: Job): boolean {
  return (
    a.state === b.state &&
    a.kind === b.kind &&
    a.spec.queue === b.spec.queue &&
    a.spec.handler === b.spec.handler
  )
}

function groupWords({ words, members, shared, scores }: Group): string[] {
  const [kind, clears, ...more] = words
  const begin = [kind!, clears!, String(members.length)]
  if (kind === 'none') return begin
  // Beside a lease that is kept lies the lease.
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
  if (expireAt !== null) {
    const key = `exp:${kinds.indexOf(job.kind)}:${toKey(spec.queue)}`
    return end(['ended', key], String(expireAt), true)
  }
  const line = lineOf(spec)
  if (state === 'waiting' && dueAt !== null && dueAt > now) {
    return end(['timed', `timed:${line}`], String(dueAt))
  }
  if (state === 'waiting' && dueAt !== null) {
    return end(['ready', line, toKey(spec.lane)], String(rankOf(dueAt, spec.priority)))
  }
  const until = state === 'paused' && job.pause !== null ? job.pause.until : null
  return until === null ? end(['none'], '') : end(['set', 'pauses'], String(until))
}

function lineOf({ queue, handler }: JobSpec): string {
  return `${toKey(queue)}\0${toKey(handler)}`
}

/** Leases that end or stay, what expires out of order, what is dropped, the tallies, the marks. */
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
    ...markWords(plain),
  ]
}

interface Move {
  readonly words: readonly string[]
  count: number
}

/** From running to what they came to. */
function tallyWords(plain: readonly Plain[]): string[] {
  const moves = new Map<string, Move>()
  let last: { job: Job; move: Move } | null = null
  for (const { change } of plain) {
    const { job } = change
    if (job.lease !== null) continue
    const { tenant, queue } = job.spec
    if (last !== null && last.job.spec.tenant === tenant && isSameLine(last.job, job)) {
      last.move.count++
      continue
    }
    const line = lineOf(job.spec)
    const name = `${job.state} ${job.kind} ${line}\0${tenant}`
    const codes = [kinds.indexOf(job.kind), states.indexOf(job.state)].map(String)
    const made = { words: [toKey(tenant), line, toKey(queue), ...codes], count: 0 }
    const move: Move = moves.get(name) ?? made
    moves.set(name, move)
    move.count++
    last = { job, move }
  }
  const words = [...moves.values()].flatMap(move => [...move.words, String(move.count)])
  return [String(moves.size), ...words]
}

/** Jobs were live while they were held: what they are listed by now, where that is something else. */
function markWords(plain: readonly Plain[]): string[] {
  const moved = new Map<string, { words: readonly string[]; seqs: string[] }>()
  for (const { seq, change } of plain) {
    const { job } = change
    if (job.kind !== 'job') continue
    const mark = markOfJob(job)
    if (mark === LIVE) continue
    const words = [String(mark), toKey(job.spec.tenant)]
    const name = words.join(' ')
    const held = moved.get(name) ?? { words, seqs: [] }
    moved.set(name, held)
    held.seqs.push(seq)
  }
  const words = [...moved.values()].flatMap(({ words: begin, seqs }) => [
    ...begin,
    String(seqs.length),
    ...seqs,
  ])
  return [String(moved.size), ...words]
}
