// Jobs that keep no history: what runs once and is told to keep nothing leaves its end when it
// succeeds, and no attempt. Failures leave theirs: someone will want to read them.

import type { Change } from './change.ts'
import type { Job } from './job.ts'
import { openEntry, runEntry, type LedgerEntry } from './ledger.ts'
import type { JobSpec } from './spec.ts'
import type { Instant } from './time.ts'

function onceAt({ trigger, retention }: JobSpec): Instant | null {
  const keepsNothing = retention.attempts === 0 && retention.ageMs === 0
  return keepsNothing && trigger.kind === 'once' ? trigger.at : null
}

/** The change as it is stored; those who are told of it still hear of the attempt. */
export function kept(change: Change): Change {
  const { attempt, job } = change
  if (attempt === null || attempt.outcome !== 'succeeded') return change
  const isOwn = attempt.origin === 'schedule' && attempt.retryOf === null
  const isAll = isOwn && job.state === 'completed' && onceAt(job.spec) !== null
  return isAll ? { ...change, attempt: null } : change
}

/** The decision that only the job itself holds, of a run that left no attempt, or none yet. */
export function ownEntry(job: Job): LedgerEntry | null {
  return openEntry(job) ?? endEntry(job)
}

/** The run decision that only the end of a job tells of. */
export function endEntry(job: Job): LedgerEntry | null {
  const at = onceAt(job.spec)
  if (at === null || job.state !== 'completed' || job.last?.outcome !== 'succeeded') return null
  const { runs } = job.counters
  return runEntry({ jobId: job.id, origin: 'schedule', retryOf: null, occurrence: at, run: runs })
}
