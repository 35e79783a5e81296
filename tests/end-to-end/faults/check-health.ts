// Whether a storm took healthy jobs with it: none may end, be set aside or stand still, and the job
// that kills processes has to be kept from it.

import { isSetAside } from '../../../src/core/run/crash.ts'
import type { Job } from '../../../src/core/job.ts'
import { limits } from '../../../src/core/limits.ts'
import { nodeIdOf } from '../../../src/core/run/owner.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { Evidence } from './evidence.ts'
import type { Start } from './witness.ts'
import { isHealthy, poisonJob } from './workload.ts'

export function healthOf(evidence: Evidence): string[] {
  const healthy = evidence.jobs.filter(({ id }) => isHealthy(id))
  return [
    ...ended(healthy),
    ...setAside(evidence, healthy),
    ...silent(evidence, healthy),
    ...unstoppedPoison(evidence),
  ]
}

function ended(jobs: readonly Job[]): string[] {
  return jobs
    .filter(job => job.state === 'failed' || job.state === 'cancelled' || isArchived(job))
    .map(job => `${job.id} is healthy and ${job.state} (${job.ended?.reason})`)
}

const isArchived = ({ ended: end }: Job) => end?.reason === 'archived'

/** Now or at any time before; only as many killed processes as that takes are an excuse. */
function setAside({ attempts, ledgers, dead }: Evidence, jobs: readonly Job[]): string[] {
  const killed = new Set(dead)
  const wasSetAside = (job: Job) =>
    isSetAside(job) ||
    (ledgers.get(job.id) ?? []).some(
      entry => entry.decision === 'skip' && entry.reason === 'crash_loop',
    )
  const isExcused = ({ id }: Job) => {
    const crashes = attempts.filter(one => one.jobId === id && one.outcome === 'abandoned')
    const isKilled = crashes.every(({ owner }) => killed.has(nodeIdOf(owner)))
    return isKilled && crashes.length >= limits.crashesMax
  }
  return jobs
    .filter(job => wasSetAside(job) && !isExcused(job))
    .map(({ id }) => `${id} is healthy and was set aside`)
}

const startsOf = ({ lines }: Evidence) =>
  lines.filter((line): line is Start => line.kind === 'start')

/** G4: a clock that was set back silences nothing for longer than a minute. */
function silent(evidence: Evidence, jobs: readonly Job[]): string[] {
  const { readAt, steps, lines } = evidence
  const endAt = lines.at(-1)?.at ?? 0
  const found: string[] = []
  for (const { id, kind, state, nextAt, dueAt, current, spec } of jobs) {
    const { trigger } = spec
    if (kind !== 'job' || trigger.kind !== 'interval' || state === 'completed') continue
    // The occurrence of an open run may be of the clock before; what counts is when it goes on.
    const [nextStart, waitMs] = current.run > 0 ? [dueAt, MINUTE] : [nextAt, trigger.everyMs]
    if (nextStart !== null && nextStart > Math.max(readAt, spec.startAt ?? 0) + waitMs) {
      found.push(`${id} is silent until ${nextStart}, it is ${readAt}`)
    }
    const starts = startsOf(evidence).filter(({ job }) => job.split('@')[0] === id)
    for (const step of steps) {
      if (step + MINUTE > endAt) continue
      const isHeard = starts.some(({ at }) => at > step && at <= step + MINUTE)
      if (!isHeard) found.push(`${id} did not start for a minute after the clock step at ${step}`)
    }
  }
  return found
}

/** G1: after five crashes that counted it costs one process for each cool-down. */
function unstoppedPoison(evidence: Evidence): string[] {
  const counted = new Map(
    evidence.attempts
      .filter(({ jobId, outcome }) => jobId === poisonJob.id && outcome === 'abandoned')
      .map(({ id }) => [id, true]),
  )
  const found: string[] = []
  let crashes = 0
  let lastAt = 0
  for (const { job, id, at } of startsOf(evidence)) {
    if (job !== poisonJob.id) continue
    const coolDownMs = crashes < limits.crashesMax ? 0 : MINUTE
    if (at - lastAt < coolDownMs) {
      found.push(`${job} ran again ${at - lastAt} ms after its crash ${crashes}`)
    }
    if (counted.has(id)) crashes++
    lastAt = at
  }
  return found
}
