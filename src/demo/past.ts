// A past for a job: the same decisions the engine takes, taken at moments that are over. What comes
// out is a job with its history as a store would hold it.

import type { Outcome } from '../core/attempt.ts'
import { begin } from '../core/run/begin.ts'
import { attemptEntry, type Entry } from '../core/stored/entry.ts'
import type { Job } from '../core/job.ts'
import type { JsonObject } from '../core/json.ts'
import type { Skip } from '../core/history/ledger.ts'
import type { LogLine } from '../core/history/report.ts'
import { settle } from '../core/run/settle.ts'
import { hash32 } from '../core/schedule/spread.ts'
import { MINUTE, type Instant, type Millis } from '../core/time.ts'

export interface Done {
  readonly tookMs: Millis
  readonly outcome: Outcome
  readonly measures?: JsonObject
  readonly lines: readonly LogLine[]
}

export interface Life {
  /** How an attempt went that began at a moment. */
  readonly does: (job: Job, seed: string, startedAt: Instant) => Done
  /** When a node takes what is due at a moment, and which. */
  readonly claim: (dueAt: Instant, seed: string) => { readonly at: Instant; readonly owner: string }
  readonly until: Instant
  /** Attempts begun before are told without their log. */
  readonly logsFrom: Instant
}

export interface Past {
  /** The job as it is at the end, and the tasks it left. */
  readonly jobs: readonly Job[]
  readonly entries: readonly Entry[]
}

/** Bounds a past whose schedule would never come to its end. */
const STEPS_MAX = 50_000

export function livePast(born: Job, life: Life): Past {
  const entries: Entry[] = []
  const tasks: Job[] = []
  const keep = (skips: readonly Skip[], job: Job, at: Instant) => {
    for (const skip of skips) {
      entries.push({ type: 'skip', skip, expireAt: at + job.spec.retention.ageMs })
    }
  }
  let job = born
  for (let step = 0; step < STEPS_MAX; step++) {
    if (job.state !== 'waiting' || job.dueAt === null || job.dueAt >= life.until) break
    const seed = `${job.id}/${job.counters.fence + 1}`
    const { at, owner } = life.claim(job.dueAt, seed)
    if (at >= life.until) break
    const claimed = claimedAt(job, { at, owner, seed })
    const begun = begin(claimed, at)
    if (begun.change) keep(begun.change.skips, job, at)
    if (begun.kind === 'nothing') {
      tasks.push(...begun.change.inserts)
      job = begun.change.job
      continue
    }
    const startedAt = at + (hash32(`${seed} start`) % 9)
    const done = life.does(begun.job, seed, startedAt)
    const finishedAt = startedAt + done.tookMs
    // What would still be running is left to the present.
    if (finishedAt >= life.until) break
    const measures = done.measures ?? null
    const { outcome } = done
    const settled = settle(begun.job, { outcome, startedAt, measures }, finishedAt)
    keep(settled.skips, job, finishedAt)
    if (settled.attempt) entries.push(attemptEntry(settled.attempt))
    if (settled.attempt && startedAt >= life.logsFrom) {
      entries.push(...logEntries(job.id, settled.attempt.id, done.lines))
    }
    job = settled.job
  }
  const pasts = tasks.map(task => livePast(task, life))
  return {
    jobs: [job, ...pasts.flatMap(({ jobs }) => jobs)],
    entries: [...entries, ...pasts.flatMap(past => past.entries)],
  }
}

interface Claim {
  readonly at: Instant
  readonly owner: string
  readonly seed: string
}

/** As every store grants it. */
function claimedAt(job: Job, { at, owner, seed }: Claim): Job {
  const { counters } = job
  return {
    ...job,
    state: 'running',
    dueAt: null,
    lease: {
      token: 'past',
      owner,
      attemptId: pastId(at, seed),
      claimedAt: at,
      until: at + MINUTE,
    },
    counters: { ...counters, attempts: counters.attempts + 1, fence: counters.fence + 1 },
    version: job.version + 1,
  }
}

/** In the order of time, like the ids of attempts that happen. */
export function pastId(at: Instant, seed: string): string {
  const time = at.toString(16).padStart(12, '0')
  const digits = [0, 1, 2]
    .map(part => hash32(`${seed} ${part}`).toString(16).padStart(8, '0'))
    .join('')
  const [a, b, c] = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6, 18)]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-8${b}-${c}`
}

function logEntries(jobId: string, attemptId: string, lines: readonly LogLine[]): Entry[] {
  return lines.map((line, n) => ({ type: 'log', jobId, attemptId, n, line }))
}
