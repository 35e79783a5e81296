// What handlers tell while they run: log lines, progress and checkpoints, stored from time to time.

import type { Report } from '../store/port.ts'
import { leaseOf, type ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'

/** Stores what these handlers have left since the last time. */
export async function sendReports(
  { store, clock }: Pick<Parts, 'store' | 'clock'>,
  attempts: readonly ActiveAttempt[],
): Promise<void> {
  const reporting = attempts.filter(({ pending, phase }) => pending !== null && phase !== 'gone')
  if (reporting.length === 0) return
  const reports = reporting.map(reportOf)
  for (const attempt of reporting) attempt.pending = null
  await store.report(reports, clock.now())
}

function reportOf(attempt: ActiveAttempt): Report {
  const { id, token, fence } = leaseOf(attempt)
  const { progress, checkpoint, lines } = attempt.pending!
  return {
    jobId: id,
    token,
    fence,
    attemptId: attempt.job.lease!.attemptId,
    lines,
    ...(progress ? { progress } : {}),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
}
