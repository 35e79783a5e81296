// R: failures spend their budget and nothing else does, waits keep to their backoff, and a job whose
// attempts end without a word is set aside.

import type { Attempt } from '../../../src/core/attempt.ts'
import type { JobSpec } from '../../../src/core/spec.ts'
import type { Millis } from '../../../src/core/time.ts'
import type { Checker, Violation, Write } from '../history.ts'
import { byRun, violation, writesByJob } from './facts.ts'

/** Attempts in a row that may end without a word; the last of them sets the job aside. */
export const CRASHES_MAX = 5

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

/** R3 and R4: so many abandoned attempts in a row, per job, and it is set aside. */
function crashBudget(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  let inRow = 0
  for (const write of writes) {
    if (write.verb === 'retry') inRow = 0
    for (const { outcome } of write.attempts) {
      inRow = outcome === 'abandoned' ? inRow + 1 : 0
      if (inRow > CRASHES_MAX) {
        found.push(violation('R4', jobId, write.at, `${inRow} attempts in a row were abandoned`))
      }
    }
    const isAside = write.after?.state === 'failed' && write.after.ended?.reason === 'crash_loop'
    if (inRow === CRASHES_MAX && write.attempts.length > 0 && !isAside) {
      found.push(violation('R4', jobId, write.at, `${inRow} crashes, but it is not set aside`))
    }
    if (write.attempts.length > 0 && inRow < CRASHES_MAX && isAside) {
      found.push(violation('R4', jobId, write.at, `set aside after ${inRow} crashes`))
    }
  }
  return found
}
