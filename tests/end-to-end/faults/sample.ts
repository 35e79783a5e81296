// A small history in which everything is right, for tests that then break one thing.

import type { Attempt } from '../../../src/core/attempt.ts'
import { createJob } from '../../../src/core/create.ts'
import type { Job } from '../../../src/core/job.ts'
import type { LedgerEntry } from '../../../src/core/history/ledger.ts'
import { completeSpec } from '../../../src/core/spec.ts'
import type { Evidence } from './evidence.ts'
import type { Line } from './witness.ts'
import { task } from './workload.ts'

/** What a test may break: every part can be replaced. */
export interface Sample extends Evidence {
  jobs: Job[]
  attempts: Attempt[]
  lines: Line[]
  ledgers: Map<string, LedgerEntry[]>
  counts: Evidence['counts']
  quietAt: number
  dead: string[]
  steps: number[]
}

const EVERY = 1_000

export function attempt(jobId: string, number: number, occurrence: number): Attempt {
  return {
    id: `${jobId}-a${number}`,
    jobId,
    run: number,
    attempt: 1,
    number,
    fence: number,
    retries: 0,
    origin: 'schedule',
    retryOf: null,
    occurrence,
    missed: 0,
    owner: 'n1',
    claimedAt: occurrence + 1,
    startedAt: occurrence + 2,
    finishedAt: occurrence + 30,
    outcome: 'succeeded',
    reason: null,
    error: null,
    result: null,
    measures: null,
    expireAt: 1e12,
  }
}

/** As its node and its handler wrote it down. */
export function linesOf({ id, jobId: job, run, fence, occurrence, outcome }: Attempt): Line[] {
  const fact = { job, run, fence, id, node: 'n1' }
  return [
    { kind: 'start', at: occurrence + 2, occurrence, ...fact },
    { kind: 'finish', at: occurrence + 20, isOk: true, ...fact },
    { kind: 'accepted', at: occurrence + 30, outcome, ...fact },
  ]
}

function ended(job: Job, attempts: number, patch: Partial<Job>): Job {
  return {
    ...job,
    counters: { runs: attempts, attempts, fence: attempts, concluded: attempts },
    totals: { ...job.totals, succeeded: attempts },
    ...patch,
  }
}

/** A schedule that ran at 1000 and 2000, and a task that ran at 1500; quiet from 2500 on. */
export function goodHistory(): Sample {
  const trigger = { kind: 'interval', everyMs: EVERY, from: 'schedule', anchor: 0 } as const
  const spec = completeSpec({ handler: 'tick', queue: 'ticks', trigger })
  const every = ended(createJob({ id: 'every', spec }, 500), 2, { nextAt: 3_000, dueAt: 3_000 })
  const once = createJob({ id: 'once', spec: task(1_500) }, 600)
  const done = ended(once, 1, { state: 'completed', nextAt: null, dueAt: null })
  const attempts = [attempt('every', 1, 1_000), attempt('every', 2, 2_000)]
  const run = ({ occurrence: at, run: number }: Attempt): LedgerEntry => ({
    decision: 'run',
    jobId: 'every',
    from: at,
    to: at,
    count: 1,
    run: number,
  })
  const all = [...attempts, attempt('once', 1, 1_500)]
  const count = { kind: 'job', count: 1, pruned: 0 } as const
  return {
    jobs: [every, done],
    attempts: all,
    ledgers: new Map([['every', attempts.map(run)]]),
    counts: [
      { ...count, queue: 'ticks', handler: 'tick', state: 'waiting' },
      { ...count, queue: 'tasks', handler: 'task', state: 'completed' },
    ] as Evidence['counts'],
    lines: [
      { kind: 'asked', at: 590, node: 'n1', job: 'once', dueAt: 1_500 },
      { kind: 'created', at: 600, node: 'n1', job: 'once' },
      ...all.flatMap(linesOf),
    ],
    seeded: ['every'],
    quietAt: 2_500,
    dead: [],
    steps: [],
    readAt: 2_600,
  }
}
