// The jobs the nodes work on while things go wrong: schedules of every overlap policy, tasks that
// nodes create as they go, and handlers that take time, fail and outlive their lease.

import { completeSpec, type JobSpec, type SpecInput } from '../../../src/core/spec.ts'
import type { Context } from '../../../src/engine/context.ts'
import { after } from '../engine.ts'

const schedule = (everyMs: number, anchor: number, more: Partial<SpecInput> = {}) =>
  completeSpec({
    handler: 'tick',
    queue: 'ticks',
    trigger: { kind: 'interval', everyMs, from: 'schedule', anchor },
    ...more,
  })

const retrying = {
  limit: 3,
  backoff: { kind: 'fixed', delayMs: 20 },
  resetAfterMs: null,
  exhausted: 'next',
  yields: false,
} as const

/** Kinds of schedules, in turn. */
const kinds: readonly Partial<SpecInput>[] = [
  {},
  { overlap: { policy: 'queue', limit: 3 } },
  { handler: 'flaky', retry: retrying },
  { overlap: { policy: 'allow' } },
  {
    missed: { policy: 'all', max: 20, maxAgeMs: 600_000 },
    overlap: { policy: 'queue', limit: 20 },
  },
  { handler: 'slow' },
]

/** The exit code of a node whose handler ended its process. */
export const POISON_EXIT = 86
/** Jobs that are meant to be hurt have a queue of their own. */
const UNWELL = 'unwell'

/** Its handler ends the process that runs it. */
export const poisonJob = {
  id: 'poison',
  spec: schedule(2_000, 0, { handler: 'poison', queue: UNWELL }),
} as const

/** Well until its stored record is damaged. */
export function scapegoat(number: number): { id: string; spec: JobSpec } {
  return { id: `scapegoat-${number}`, spec: schedule(1_000, 0, { queue: UNWELL }) }
}

/** Nothing may end, set aside or silence these. */
export function isHealthy(jobId: string): boolean {
  return !/^(?:poison|scapegoat)/.test(jobId)
}

export function isHealthyQueue(queue: string): boolean {
  return queue !== UNWELL
}

const periods = [500, 700, 1_000, 1_300, 2_000]

export function schedules(count: number): { id: string; spec: JobSpec }[] {
  return Array.from({ length: count }, (_, i) => {
    const everyMs = periods[i % periods.length]!
    // Not all of them at the same moment.
    const spec = schedule(everyMs, (i * 37) % everyMs, kinds[i % kinds.length])
    return { id: `every-${i}`, spec }
  })
}

/**
 * Fixed numbers of occurrences from a moment on, each of which must be run. There are no more of
 * them than a schedule may have waiting, so that however far behind the nodes are, none is left out.
 */
export function countedSchedules(from: number, jobs: number, runs: number, everyMs: number) {
  const spec = {
    handler: 'quick',
    startAt: from,
    endAt: from + runs * everyMs - 1,
    missed: { policy: 'all', max: 1_000, maxAgeMs: 86_400_000 },
    overlap: { policy: 'queue', limit: 100 },
  } as const
  return Array.from({ length: jobs }, (_, i) => ({
    id: `counted-${i}`,
    spec: schedule(everyMs, from + Math.floor((i * everyMs) / jobs), spec),
  }))
}

/** Always some work under way that takes its time, for hand-overs to be seen. */
export function longSchedules(count: number): { id: string; spec: JobSpec }[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `long-${i}`,
    spec: schedule(2_000, i * 101, { handler: 'long', queue: 'long' }),
  }))
}

/** Runs once, at the moment. */
export function task(at: number, handler = 'task'): JobSpec {
  return completeSpec({ handler, queue: 'tasks', trigger: { kind: 'once', at } })
}

async function waitFor(ms: number): Promise<void> {
  if (ms > 0) await after(ms)
}

/** Until the time is up or the engine wants it back. */
function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

/** What the handlers do; those that do not look at the signal are the ones that come back late. */
export function handlersOf(leaseMs: number) {
  return {
    tick: ({ fence }: Context) => waitFor(fence % 4 === 0 ? 0 : (fence * 13) % 90),
    task: ({ scheduledFor }: Context) => waitFor(scheduledFor.getTime() % 50),
    async flaky({ fence }: Context) {
      await waitFor((fence * 7) % 30)
      if (fence % 3 === 0) throw new Error('flaky')
    },
    slow: ({ fence }: Context) => waitFor((fence % 3) * leaseMs * 0.4),
    long: ({ signal }: Context) => waitUnlessAborted(3_000, signal),
    quick: () => Promise.resolve(),
    poison: () => process.exit(POISON_EXIT),
  }
}
