// Several jobs decided together and written together: all of it or nothing.

import type { Change, Removal } from '../change.ts'
import { refuse } from '../errors.ts'
import type { Job } from '../job.ts'
import { limits } from '../limits.ts'
import type { RecordWrite } from '../record.ts'

/** Jobs that are new, that change and that go. */
export interface Bundle {
  readonly inserts: readonly Job[]
  readonly changes: readonly Change[]
  readonly removes: readonly Removal[]
}

/** One thing that is in the way of a bundle. */
export interface Refusal {
  readonly part: 'insert' | 'change' | 'remove' | 'record'
  /** Of the job; empty for records, which are checked together. */
  readonly id: string
  readonly reason: 'exists' | 'missing' | 'conflict' | 'full'
}

/** What is written with the changes of an atomic commit. */
export interface AtomicParts {
  readonly inserts?: readonly Job[]
  readonly removes?: readonly Removal[]
  readonly records?: readonly RecordWrite[]
}

export type CommitResult = 'committed' | 'conflict' | 'missing' | 'full'

export interface CommitAnswer {
  /** One for each change; none for an atomic commit that is not written. */
  readonly results: readonly CommitResult[]
  /** Everything that is in the way of an atomic commit; empty when it is written. */
  readonly refusals: readonly Refusal[]
}

export function bundleOf(changes: readonly Change[], parts: AtomicParts): Bundle {
  return { inserts: parts.inserts ?? [], changes, removes: parts.removes ?? [] }
}

export function atomicAnswer(
  changes: readonly Change[],
  refusals: readonly Refusal[],
): CommitAnswer {
  return { results: refusals.length > 0 ? [] : changes.map(() => 'committed'), refusals }
}

/** Every new job, whichever part brings it. */
export function bornIn({ inserts, changes }: Bundle): Job[] {
  return [...changes.flatMap(change => change.inserts), ...inserts]
}

/** Throws when there is too much for one step; answers with the jobs that are named twice. */
export function faultsOf(bundle: Bundle): Refusal[] {
  const named: Omit<Refusal, 'reason'>[] = [
    ...bundle.removes.map(({ id }) => ({ part: 'remove', id }) as const),
    ...bundle.changes.map(({ job }) => ({ part: 'change', id: job.id }) as const),
    ...bornIn(bundle).map(({ id }) => ({ part: 'insert', id }) as const),
  ]
  refuse(
    'SPEC_INVALID',
    'too many jobs for one step',
    named.length <= limits.bundleMax
      ? []
      : [{ field: 'jobs', value: named.length, rule: `must be at most ${limits.bundleMax}` }],
  )
  const seen = new Set<string>()
  return named.flatMap(one => {
    if (seen.has(one.id)) return [{ ...one, reason: 'conflict' }]
    seen.add(one.id)
    return []
  })
}

export const recordsRefused: Refusal = { part: 'record', id: '', reason: 'conflict' }

/** Those that would wait in a queue that cannot take them. */
export function fullRefusals(bundle: Bundle, isFull: (queue: string) => boolean): Refusal[] {
  const waiting = bornIn(bundle).filter(({ state }) => state === 'waiting')
  const queues = [...new Set(waiting.map(({ spec }) => spec.queue))]
  const full = new Set(queues.filter(isFull))
  return waiting
    .filter(({ spec }) => full.has(spec.queue))
    .map(({ id }) => ({ part: 'insert', id, reason: 'full' }))
}
