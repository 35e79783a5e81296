// The usual end of an attempt as commands: what one script writes if all leases still hold. They are
// put together here, where there is time, because the server has one thread for everybody.

import type { Change } from '../../core/change.ts'
import { rankOf } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { attemptText, oddExpiry } from './attempt.ts'
import { kinds, states } from './codes.ts'
import { fenceText, leaseText, rowOf } from './row.ts'
import { VALUES_MAX } from './scripts/base.ts'
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

/** What `settle` takes: the jobs, what their leases must begin with, the commands. */
export function addSettle(args: string[], plain: readonly Plain[], now: Instant): void {
  const commands = new Commands()
  for (const one of plain) addChange(commands, one, now)
  args.push(String(plain.length))
  for (const { seq } of plain) args.push(seq)
  for (const { change } of plain) args.push(fenceText(change.expectedVersion, change.token!))
  const words = commands.words()
  args.push(String(words.length))
  for (const word of words) args.push(word)
}

/** Most of what ends is never looked at again. */
export function forget(shelf: Shelf, job: Job, seq: string): void {
  if (job.lease !== null) return
  shelf.known.delete(job.id, 1)
  if (job.ended !== null) shelf.colds.drop(seq)
}

/** Values for each command and key, to be sent as few commands. */
class Commands {
  readonly #values = new Map<string, { command: string; key: string; values: string[] }>()
  readonly #singles: string[][] = []
  readonly #marks = new Map<string, Instant>()
  readonly #moves = new Map<string, { words: string[]; count: number }>()

  add(command: string, key: string, ...values: string[]): void {
    const name = `${command} ${key}`
    const held = this.#values.get(name)
    if (held) held.values.push(...values)
    else this.#values.set(name, { command, key, values })
  }

  once(command: string, key: string, ...values: string[]): void {
    this.#singles.push([command, key, String(values.length), ...values])
  }

  moved(job: Job): void {
    const { tenant, queue, handler } = job.spec
    const state = states.indexOf(job.state)
    const name = `${tenant}\0${queue}\0${handler}\0${job.kind}\0${state}`
    const held = this.#moves.get(name)
    if (held) {
      held.count++
      return
    }
    const key = toKey(queue)
    const line = `${key}\0${toKey(handler)}`
    const kind = String(kinds.indexOf(job.kind))
    this.#moves.set(name, { words: [toKey(tenant), line, key, kind, String(state)], count: 1 })
  }

  /** Made ready up to this moment: what a line has to know when a clock is set back. */
  mark(line: string, dueAt: Instant): void {
    this.#marks.set(line, Math.max(this.#marks.get(line) ?? dueAt, dueAt))
  }

  words(): string[] {
    const words: string[] = []
    for (const { command, key, values } of this.#values.values()) {
      for (let from = 0; from < values.length; from += VALUES_MAX) {
        const to = Math.min(from + VALUES_MAX, values.length)
        words.push(command, key, String(to - from))
        for (let i = from; i < to; i++) words.push(values[i]!)
      }
    }
    for (const single of this.#singles) for (const word of single) words.push(word)
    for (const [line, at] of this.#marks) words.push('ZADD', 'marks', '3', 'GT', String(at), line)
    for (const { words: move, count } of this.#moves.values()) {
      words.push('tally', '', String(move.length + 1), ...move, String(count))
    }
    return words
  }
}

function addChange(commands: Commands, { seq, specAt, change }: Plain, now: Instant): void {
  const { job, attempt, drop } = change
  commands.add('HSET', 'jobs', seq, rowOf(job, specAt, now))
  if (job.lease !== null) {
    commands.add('HSET', 'leases', seq, leaseText(job))
    commands.add('ZADD', 'ends', String(job.lease.until), seq)
  } else {
    commands.add('HDEL', 'leases', seq)
    commands.add('ZREM', 'ends', seq)
    addPlace(commands, seq, job, now)
    commands.moved(job)
  }
  if (attempt !== null) {
    const number = String(attempt.number)
    const odd = oddExpiry(attempt)
    commands.once('ZADD', `h:${seq}`, number, attemptText(attempt))
    commands.add('ZADD', 'ah', '0', `${toKey(attempt.id)}\0${seq}\0${number}`)
    if (odd !== '') commands.add('ZADD', 'ax', odd, `${seq}\0${number}`)
  }
  if (drop !== null) {
    commands.once('drop', '', seq, String(drop.number), String(drop.finishedBefore))
  }
  if (change.clearsCheckpoint) commands.add('HDEL', 'progress', seq)
}

/** What `place` does in scripts. */
function addPlace(commands: Commands, seq: string, job: Job, now: Instant): void {
  const { spec, dueAt, expireAt } = job
  const queue = toKey(spec.queue)
  const line = `${queue}\0${toKey(spec.handler)}`
  if (job.state === 'waiting' && dueAt !== null && dueAt > now) {
    commands.add('timed', `timed:${line}`, String(dueAt), seq)
  } else if (job.state === 'waiting' && dueAt !== null) {
    const lane = toKey(spec.lane)
    const rank = rankOf(dueAt, spec.priority)
    commands.add('ring', `ring:${line}`, '0', lane)
    commands.add('ZADD', `ready:${line}\0${lane}`, String(rank), seq)
    commands.mark(line, dueAt)
  } else if (job.state === 'paused' && job.pause !== null && job.pause.until !== null) {
    commands.add('ZADD', 'pauses', String(job.pause.until), seq)
  }
  if (expireAt !== null) {
    commands.add('ZADD', `exp:${kinds.indexOf(job.kind)}:${queue}`, String(expireAt), seq)
  }
}
