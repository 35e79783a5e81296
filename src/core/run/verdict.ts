// Whether a lost attempt was a crash. Its lease ended, and the job is put back either way: this only
// decides what is recorded, from what the judging node knows for sure.

import type { Outcome } from '../attempt.ts'
import type { Instant, Millis } from '../time.ts'

export interface Evidence {
  readonly owner: 'node' | 'worker'
  /** When the owner last beat, by the store's clock; null when no beat of it is known. */
  readonly beatAt: Instant | null
  /** For how long the judge's own store calls have been on time. */
  readonly onTimeMs: Millis
  /** They were on time ever since the judge started. */
  readonly isOnTimeSinceStart: boolean
}

/** Beats land a little after the renewals they come with; so much of a lease is forgiven. */
const BEAT_MARGIN = 0.1

/**
 * A crash needs proof: the owner was silent for a lease while the judge's own calls were on time, so
 * the store was not what kept it silent. Everything else is `interrupted` and counts nothing.
 */
export function judgeLostAttempt(evidence: Evidence, leaseMs: Millis, now: Instant): Outcome {
  return isCrash(evidence, leaseMs, now)
    ? { kind: 'abandoned' }
    : { kind: 'interrupted', reason: 'lease_lost' }
}

function isCrash(evidence: Evidence, leaseMs: Millis, now: Instant): boolean {
  const { owner, beatAt, onTimeMs, isOnTimeSinceStart } = evidence
  switch (owner) {
    case 'node': {
      // A judge that just started has no longer past to show: a process that dies over and over
      // alone would otherwise never be judged.
      const isOnTime = onTimeMs >= leaseMs || isOnTimeSinceStart
      return isOnTime && (beatAt === null || now - beatAt >= leaseMs * (1 - BEAT_MARGIN))
    }
    case 'worker':
      // Workers speak through the service: one that was down or slow may not have heard them.
      return onTimeMs >= leaseMs
  }
}
