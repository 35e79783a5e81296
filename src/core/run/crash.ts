// The crash budget: attempts whose process died in a row, how long the job waits after each, and
// from when it counts as a suspect or is set aside. A job that is set aside is tried again by itself.

import { decidedTo, passedSpan, upcomingFiring } from '../schedule/firings.ts'
import type { Job } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import { limits } from '../limits.ts'
import { HOUR, MINUTE, SECOND, type Instant, type Millis } from '../time.ts'
import { isGrid } from '../schedule/trigger.ts'

const RETRY_FIRST_MS: Millis = 5 * SECOND
const COOL_DOWN_FIRST_MS: Millis = MINUTE
const COOL_DOWN_MAX_MS: Millis = HOUR

/** It may be what kills processes: no two of these run at once on a node. */
export function isSuspect({ crashes }: Pick<Job, 'crashes'>): boolean {
  return crashes >= limits.suspectCrashes
}

/** It waits for the end of a cool-down and reads as `crash_loop`. */
export function isSetAside({ crashes, state }: Pick<Job, 'crashes' | 'state'>): boolean {
  return state === 'waiting' && crashes >= limits.crashesMax
}

/** How long the job waits after its nth crash in a row: 0, 5, 10, 20 s, then 1 min doubling to 1 h. */
export function crashWaitMs(crashes: number): Millis {
  if (crashes < limits.suspectCrashes) return 0
  if (crashes < limits.crashesMax) return RETRY_FIRST_MS * 2 ** (crashes - limits.suspectCrashes)
  // Beyond 2^20 the product is past every cap, and the power would lose exactness in the end.
  const doublings = Math.min(crashes - limits.crashesMax, 20)
  return Math.min(COOL_DOWN_FIRST_MS * 2 ** doublings, COOL_DOWN_MAX_MS)
}

/** Nothing fires again by itself: such a job ends after enough crashes. */
export function isOneOff({ spec }: Pick<Job, 'spec'>): boolean {
  return spec.trigger.kind === 'once' || spec.trigger.kind === 'manual'
}

export interface CoolDownEnd {
  readonly job: Job
  readonly skips: readonly Skip[]
}

/**
 * Decides the occurrences that passed while the job was set aside: one skip, with the floor of the
 * cursor behind it. The run that is tried again keeps its occurrence, and a number that says so.
 * Null when none passed.
 */
export function endCoolDown(job: Job, until: Instant): CoolDownEnd | null {
  const { trigger, overlap, endAt } = job.spec
  if (!isGrid(trigger) || overlap.policy === 'allow' || upcomingFiring(job) === null) return null
  const phase = decidedTo(job)
  const span = passedSpan(trigger, phase, phase, Math.min(until, endAt ?? Infinity))
  if (span === null) return null
  const { current, counters } = job
  const run = current.run > 0 ? current.run : counters.runs + 1
  return {
    job: {
      ...job,
      floor: span.to,
      backlog: 0,
      current: { ...current, run },
      counters: { ...counters, runs: Math.max(counters.runs, run) },
    },
    skips: [{ jobId: job.id, ...span, reason: 'crash_loop' }],
  }
}
