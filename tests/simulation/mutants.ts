// Mistakes a scheduler can make, built in at the border between the nodes and their store. Each must
// be found by the checkers; the product itself has no switch for any of them.

import { altered, claiming, committing, forced, isRetry, put, rowsOf, withJob } from './mutate.ts'
import { hashText } from './random.ts'
import type { Mutant } from './world.ts'

export interface NamedMutant extends Mutant {
  readonly name: string
  /** The invariants of which at least one must be seen to break. */
  readonly breaks: readonly string[]
}

const fencing: readonly NamedMutant[] = [
  { name: 'no fence on completion', breaks: ['E2', 'E3'], store: committing(forced) },
  {
    name: 'a cancelled job takes late results',
    breaks: ['S1', 'S2', 'E3'],
    store: committing((change, row) =>
      row.state === 'cancelled' && change.attempt !== null ? forced(change, row) : change,
    ),
  },
  {
    name: 'fences are used twice',
    breaks: ['E1'],
    store: (store, rows) =>
      altered(store, {
        claim: async request => {
          const jobs = await store.claim(request)
          return jobs.map(job => {
            const { counters } = job
            const again = {
              ...job,
              counters: { ...counters, fence: Math.max(1, counters.fence - 1) },
            }
            put(rows, again)
            return again
          })
        },
      }),
  },
  {
    name: 'leases are never renewed',
    breaks: ['E5'],
    store: store => altered(store, { renew: ({ leases }) => store.renew({ leases, until: null }) }),
  },
  {
    name: 'overlap is not checked at the claim',
    breaks: ['E4', 'E5'],
    store: claiming((rows, { now }) => {
      for (const job of rowsOf(rows)) {
        const isLong = job.state === 'running' && job.lease!.claimedAt < now - 1_500
        if (isLong) put(rows, { ...job, dueAt: now, state: 'waiting' })
      }
    }),
  },
]

const timing: readonly NamedMutant[] = [
  { name: "a node's own clock decides what is due", breaks: ['T5'], trustsOwnClock: true },
  {
    name: 'the next firing is counted from now',
    breaks: ['T1', 'T3'],
    store: committing((change, row, { now }) => {
      const { trigger, overlap } = change.job.spec
      const moves = change.job.nextAt !== row.nextAt && change.job.nextAt !== null
      const isSlot = trigger.kind === 'interval' && trigger.from === 'schedule'
      if (!moves || !isSlot || row.state !== 'running' || overlap.policy === 'queue') return change
      const nextAt = now + trigger.everyMs
      return withJob(change, { nextAt, dueAt: nextAt })
    }),
  },
  {
    name: 'skips are not recorded',
    breaks: ['T1'],
    store: committing(change => ({ ...change, skips: [] })),
  },
  {
    name: 'detached tasks are made twice',
    breaks: ['T2', 'T3'],
    store: committing(change => ({
      ...change,
      inserts: change.inserts.flatMap(job => [job, { ...job, id: `${job.id}0` }]),
    })),
  },
  {
    name: 'the schedule moves on without its task',
    breaks: ['T1'],
    store: committing((change, row) =>
      row.state === 'running' ? { ...change, inserts: [] } : change,
    ),
  },
  {
    name: 'a resume replays what passed',
    breaks: ['T1', 'T3', 'T4'],
    store: committing((change, row) => {
      if (row.state !== 'paused' || change.job.state !== 'waiting') return change
      return { ...withJob(change, { nextAt: row.nextAt, dueAt: row.nextAt }), skips: [] }
    }),
  },
  {
    name: 'the run limit is one too many',
    breaks: ['T11'],
    store: (store, rows) =>
      altered(store, {
        claim: async request =>
          (await store.claim(request)).map(job => {
            const { runLimit } = job.spec
            return { ...job, spec: { ...job.spec, runLimit: runLimit && runLimit + 1 } }
          }),
        commit: (changes, options) =>
          store.commit(
            changes.map(change => {
              const row = rows.jobs.get(change.job.id)?.job
              return row && !change.specChanged ? withJob(change, { spec: row.spec }) : change
            }),
            options,
          ),
      }),
  },
  {
    name: 'catch-up has no bound',
    breaks: ['T10', 'T1', 'T3'],
    store: committing(change =>
      change.job.backlog > 1 ? withJob(change, { backlog: change.job.backlog + 7 }) : change,
    ),
  },
]

const bookkeeping: readonly NamedMutant[] = [
  {
    name: 'numbers of released claims are not given back',
    breaks: ['A6'],
    store: committing((change, row) => {
      const isGivenBack = change.job.counters.attempts < row.counters.attempts
      if (!isGivenBack) return change
      const { attempts } = row.counters
      return withJob(change, { counters: { ...change.job.counters, attempts } })
    }),
  },
  {
    name: 'some accepted successes are forgotten',
    breaks: ['A4', 'A6', 'D1'],
    store: committing(change =>
      change.attempt?.outcome === 'succeeded' && hashText(change.attempt.id) % 5 === 0
        ? { ...change, attempt: null }
        : change,
    ),
  },
  {
    name: 'some acknowledged jobs are not stored',
    breaks: ['D1'],
    store: store =>
      altered(store, {
        insert: async (jobs, options) => {
          await store.insert(
            jobs.filter(({ id }) => hashText(id) % 3 !== 0),
            options,
          )
          return { results: jobs.map(() => 'inserted' as const), claimed: [] }
        },
      }),
  },
  {
    name: 'pruning takes jobs that run',
    breaks: ['D1', 'A6', 'E3', 'T1'],
    store: (store, rows) =>
      altered(store, {
        prune: async request => {
          const victim = rowsOf(rows).find(job => job.state === 'running' && job.kind === 'job')
          if (victim) await store.remove([victim.id])
          return store.prune(request)
        },
      }),
  },
  {
    name: 'a retry gets a new key',
    breaks: ['A1', 'E7', 'T2'],
    store: committing(change => {
      if (!isRetry(change) || change.job.current.run === 0) return change
      const { job } = change
      const run = job.counters.runs + 1
      return withJob(change, {
        current: { ...job.current, run },
        counters: { ...job.counters, runs: run },
      })
    }),
  },
]

const budgets: readonly NamedMutant[] = [
  {
    name: 'ended leases are never looked for',
    breaks: ['F1'],
    store: store => altered(store, { overdue: async () => [] }),
  },
  {
    name: 'crashes are not counted',
    breaks: ['R4'],
    store: committing(change => withJob(change, { crashes: 0 })),
  },
  {
    name: 'crashes are counted per run only',
    breaks: ['R4'],
    store: committing(change =>
      change.attempt?.outcome === 'abandoned' && change.attempt.attempt === 1
        ? withJob(change, { crashes: 1 })
        : change,
    ),
  },
  {
    name: 'an interruption spends a retry',
    breaks: ['R1'],
    store: committing(change => {
      if (!isRetry(change) || change.attempt!.outcome !== 'interrupted') return change
      const { current } = change.job
      return withJob(change, {
        current: { ...current, failures: current.failures + 1, failingSince: 1 },
      })
    }),
  },
  {
    name: 'a failed run is tried again at once',
    breaks: ['R2'],
    store: committing((change, _row, { now }) =>
      isRetry(change) && change.attempt!.outcome === 'failed'
        ? withJob(change, { retryAt: now, dueAt: now })
        : change,
    ),
  },
  {
    name: 'a paused job is claimed',
    breaks: ['S1', 'S3', 'E4'],
    store: claiming((rows, { now }) => {
      for (const job of rowsOf(rows)) {
        const isPassed = job.state === 'paused' && job.nextAt !== null && job.nextAt <= now
        if (isPassed) put(rows, { ...job, dueAt: job.nextAt, state: 'waiting' })
      }
    }),
  },
]

export const mutants: readonly NamedMutant[] = [...fencing, ...timing, ...bookkeeping, ...budgets]
