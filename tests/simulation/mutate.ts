// Ways to build a mistake into a store from outside: other methods, other changes, other rows.

import type { Change } from '../../src/core/change.ts'
import type { Job } from '../../src/core/job.ts'
import type { Rows } from '../../src/store/memory/rows.ts'
import type { ClaimRequest, CommitOptions, Store } from '../../src/store/port.ts'
import type { Mutant } from './world.ts'

type Alter = (change: Change, row: Job, options: CommitOptions) => Change

/** The same store with some of its methods replaced. */
export function altered(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name in over) return Reflect.get(over, name) as unknown
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

/** Changes each commit before it reaches the rows. */
export function committing(alter: Alter): NonNullable<Mutant['store']> {
  return (store, rows) =>
    altered(store, {
      commit: (changes, options) =>
        store.commit(
          changes.map(change => {
            const row = rows.jobs.get(change.job.id)?.job
            return row ? alter(change, row, options) : change
          }),
          options,
        ),
    })
}

/** Changes rows before a claim looks at them. */
export function claiming(
  prepare: (rows: Rows, request: ClaimRequest) => void,
): NonNullable<Mutant['store']> {
  return (store, rows) =>
    altered(store, {
      claim: request => {
        prepare(rows, request)
        return store.claim(request)
      },
    })
}

export function put(rows: Rows, job: Job): void {
  rows.jobs.set(job.id, { seq: rows.jobs.get(job.id)!.seq, job })
}

export function rowsOf(rows: Rows): Job[] {
  return [...rows.jobs.values()].map(({ job }) => job)
}

export const withJob = (change: Change, job: Partial<Job>): Change => ({
  ...change,
  job: { ...change.job, ...job },
})

export const forced = (change: Change, row: Job): Change => ({
  ...withJob(change, { version: row.version + 1 }),
  expectedVersion: row.version,
  token: row.lease?.token ?? null,
})

export const isRetry = ({ attempt, job }: Change): boolean =>
  attempt !== null && job.state === 'waiting' && job.retryAt !== null
