// Ten thousand jobs with a hundred attempts each in a SQLite file: decided by the core like any
// other, and written in bulk.

import { openStore } from '../../src/compose.ts'
import type { Entry } from '../../src/core/stored/entry.ts'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import { hash32 } from '../../src/core/schedule/spread.ts'
import { completeSpec } from '../../src/core/spec.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { livePast, type Life } from '../../src/demo/past.ts'
import { systemClock } from '../../src/runtime/clock.ts'

export interface Size {
  readonly jobs: number
  readonly attempts: number
}

const AT_ONCE = 100
const TENANTS = 40

/** Returns how many attempts were written, and how long that took. */
export async function fill(path: string, { jobs, attempts }: Size) {
  const store = await openStore(`sqlite:${path}`, { now: () => systemClock.now(), listens: false })
  const from = performance.now()
  const now = systemClock.now()
  let written = 0
  try {
    for (let at = 0; at < jobs; at += AT_ONCE) {
      const count = Math.min(AT_ONCE, jobs - at)
      const entries = Array.from({ length: count }, (_, i) => past(at + i, attempts, now))
      const flat = entries.flat()
      written += flat.filter(({ type }) => type === 'attempt').length
      await store.maintenance.load(flat, now)
    }
  } finally {
    await store.close()
  }
  return { written, tookMs: performance.now() - from }
}

function past(n: number, attempts: number, now: number): Entry[] {
  const id = `job-${String(n).padStart(6, '0')}`
  const everyMs = HOUR + (hash32(id) % (20 * MINUTE))
  const spec = completeSpec({
    name: `job ${n}`,
    handler: 'noop',
    tenant: n % 4 === 0 ? 'default' : `tenant-${n % TENANTS}`,
    queue: n % 10 === 0 ? 'mail' : 'default',
    trigger: { kind: 'interval', everyMs, from: 'schedule', anchor: null },
    retry: {
      ...completeSpec({ handler: 'noop', trigger: { kind: 'manual' } }).retry,
      exhausted: 'next',
    },
    tags: [`team-${n % 7}`],
    payload: { n },
    retention: { attempts: attempts * 2, ageMs: 30 * 24 * HOUR },
  })
  // Each at another moment of its interval, so that the last hour has runs like any other.
  const phase = hash32(`${id} phase`) % everyMs
  const born = createJob({ id, spec }, now - everyMs * attempts - phase)
  const { jobs, entries } = livePast(born, lifeUntil(now))
  return [...jobs.map((job): Entry => ({ type: 'job', job: paused(job, n, now) })), ...entries]
}

/** One of a hundred is paused, so that lists by status have something to find. */
function paused(job: Job, n: number, now: number): Job {
  if (n % 100 !== 0) return job
  return { ...job, state: 'paused', dueAt: null, pause: { at: now, until: null, note: null } }
}

function lifeUntil(until: number): Life {
  return {
    until,
    logsFrom: until,
    claim: (dueAt, seed) => ({ at: dueAt + (hash32(seed) % 400), owner: 'node-1' }),
    does: (_job, seed) => {
      const isFailed = hash32(`${seed} fails`) % 50 === 0
      return {
        tookMs: 20 + (hash32(`${seed} takes`) % 5_000),
        lines: [],
        outcome: isFailed
          ? {
              kind: 'failed',
              error: { name: 'Error', message: 'the other side did not answer', stack: null },
              final: true,
              retryAfterMs: null,
            }
          : { kind: 'succeeded', result: { done: true }, measures: null },
      }
    },
  }
}
