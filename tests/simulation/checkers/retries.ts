// R: failures spend their budget and nothing else does, waits keep to their backoff, and a job whose
// process dies over and over waits longer and longer.

import type { Attempt } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { JobSpec } from '../../../src/core/spec.ts'
import type { Millis } from '../../../src/core/time.ts'
import type { Checker, Violation, Write } from '../history.ts'
import { byRun, violation, writesByJob } from './facts.ts'

/** Crashes in a row that end a one-off. */
export const ONE_OFF_CRASHES_MAX = 10

export const checkRetries: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    found.push(...withinBudget(jobId, writes))
    found.push(...countedFailures(jobId, writes))
    found.push(...backoffKept(jobId, writes))
    found.push(...crashBudget(jobId, writes))
  }
  return found
}

const isFailure = ({ outcome }: Attempt): boolean => outcome === 'failed' || outcome === 'timedOut'

/** R1: no run fails more often than its limit allows, whichever edit was the most generous. */
function withinBudget(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  let limit = 0
  for (const { after } of writes) {
    const { retry } = after?.spec ?? {}
    if (retry)
      limit = Math.max(limit, retry.resetAfterMs === null ? (retry.limit ?? Infinity) : Infinity)
  }
  for (const [run, attempts] of byRun(writes)) {
    const failures = attempts.filter(isFailure).length
    if (failures <= limit + 1) continue
    const text = `run ${run} failed ${failures} times, ${limit} retries allowed`
    found.push(violation('R1', jobId, attempts.at(-1)!.finishedAt, text))
  }
  return found
}

/** R1: only failures count: interruptions, deferrals and crashes spend no retry. */
function countedFailures(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  const resets = writes.some(({ after }) => after?.spec.retry.resetAfterMs != null)
  if (resets) return found
  for (const [run, attempts] of byRun(writes)) {
    for (let i = 1; i < attempts.length; i++) {
      const [before, after] = [attempts[i - 1]!, attempts[i]!]
      const expected = before.retries + (isFailure(before) ? 1 : 0)
      if (after.retries === expected) continue
      const text = `run ${run}: ${after.retries} failures counted after ${before.outcome}, not ${expected}`
      found.push(violation('R1', jobId, after.claimedAt, text))
    }
  }
  return found
}

/** R2: a failed run is tried again within the band its backoff declares. */
function backoffKept(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const write of writes) {
    const { before, after, verb, at } = write
    const [attempt] = write.attempts
    if (!attempt || !after || verb !== null || !isFailure(attempt)) continue
    const open = after.requests.find(({ run }) => run === attempt.run)
    const isRetry = after.state === 'waiting' && (open ?? after.current.run === attempt.run)
    if (!isRetry || (!open && after.retryAt === null)) continue
    const moment = open ? open.dueAt : after.retryAt!
    const failures = open ? open.failures : after.current.failures
    const waits = moment - attempt.finishedAt
    const [min, max] = isAsked(attempt) ? [0, Infinity] : band(before!.spec, failures)
    if (waits >= min && waits <= max) continue
    const text = `run ${attempt.run} is tried again after ${waits} ms, not ${min} to ${max}`
    found.push(violation('R2', jobId, at, text))
  }
  return found
}

/** The handler itself named the moment. */
function isAsked({ error }: Attempt): boolean {
  return error?.name === 'RetryAfter'
}

export function band({ retry, trigger }: JobSpec, failures: number): [Millis, Millis] {
  const { backoff } = retry
  const doubled = 2 ** (failures - 1)
  switch (backoff.kind) {
    case 'fixed':
      return [backoff.delayMs, backoff.delayMs]
    case 'exponential': {
      const full = Math.min(backoff.baseMs * doubled, backoff.maxMs)
      return [Math.floor(full * (1 - backoff.jitter)), full]
    }
    case 'relative': {
      const every = trigger.kind === 'interval' ? trigger.everyMs : 0
      const full = Math.min(every * doubled, every * backoff.maxFactor)
      return [full, full]
    }
  }
}

/** Waits after the nth crash in a row, in seconds; the last one is for all that follow. */
const CRASH_WAITS = [0, 0, 5, 10, 20, 60, 120, 240, 480, 960, 1_920, 3_600]

export function crashWait(inRow: number): Millis {
  return CRASH_WAITS[Math.min(inRow, CRASH_WAITS.length - 1)]! * 1_000
}

/** What says nothing about the handler neither adds to a row of crashes nor ends it. */
const NEUTRAL: ReadonlySet<string> = new Set(['interrupted', 'cancelled'])

/** R3 and R4: crashes in a row are counted per job, waited for, and end one-offs only. */
function crashBudget(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  let inRow = 0
  for (const write of writes) {
    const { before, after, verb, at } = write
    if (verb === 'retry' && before?.state === 'failed') inRow = 0
    for (const { outcome } of write.attempts) {
      if (outcome === 'abandoned') inRow++
      else if (!NEUTRAL.has(outcome)) inRow = 0
    }
    if (!after || !before || write.attempts.length === 0) continue
    const problem = crashProblem(write.attempts.at(-1)!, { before, after, inRow })
    if (problem !== null) found.push(violation('R4', jobId, at, problem))
  }
  return found
}

interface CrashRow {
  readonly before: Job
  readonly after: Job
  readonly inRow: number
}

function crashProblem(attempt: Attempt, { before, after, inRow }: CrashRow): string | null {
  if (after.crashes !== inRow) return `${after.crashes} crashes counted, not ${inRow}`
  const { kind } = before.spec.trigger
  const mayEnd = (kind === 'once' || kind === 'manual') && inRow >= ONE_OFF_CRASHES_MAX
  const isEnded = after.state === 'failed' && after.ended?.reason === 'crash_loop'
  if (isEnded && !mayEnd) return `ended after ${inRow} crashes`
  const isLost = attempt.reason === 'lease_lost'
  if (attempt.outcome !== 'abandoned' && !isLost) return null
  if (!isLost && mayEnd && !isEnded) return `${inRow} crashes, but the one-off has not ended`
  if (after.state !== 'waiting' || after.dueAt === null) return null
  const waits = after.dueAt - attempt.finishedAt
  // A handler that was told to stop and has not returned holds the next start back as well.
  const held = after.hold === null ? 0 : after.hold.until - attempt.finishedAt
  const wait = Math.max(crashWait(inRow), held)
  const isLate = waits > wait && inRow < ONE_OFF_CRASHES_MAX
  if (waits >= wait && !isLate) return null
  return wait === 0 && waits < 0 ? null : `waits ${waits} ms after ${inRow} crashes, not ${wait}`
}
