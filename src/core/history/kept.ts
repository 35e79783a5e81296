// Jobs that keep no history: what runs once, is told to keep nothing and succeeds at its first try
// leaves its end, and no attempt. Whatever comes after another attempt is written down: a run must not
// look as if a failure had been the end of it.

import type { Change } from '../change.ts'
import type { Job } from '../job.ts'
import { openEntry, runEntry, type LedgerEntry } from './ledger.ts'
import type { JobSpec } from '../spec.ts'
import type { Instant } from '../time.ts'

function onceAt({ trigger, retention }: JobSpec): Instant | null {
  const keepsNothing = retention.attempts === 0 && retention.ageMs === 0
  return keepsNothing && trigger.kind === 'once' ? trigger.at : null
}

/** The change as it is stored; those who are told of it still hear of the attempt. */
export function kept(change: Change): Change {
  const { attempt, job } = change
  if (attempt === null || attempt.outcome !== 'succeeded') return change
  const isFirst = attempt.number === 1 && attempt.origin === 'schedule'
  const isAll = isFirst && job.state === 'completed' && onceAt(job.spec) !== null
  return isAll ? { ...change, attempt: null } : change
}

/** The decision that only the job itself holds, of a run that left no attempt, or none yet. */
export function ownEntry(job: Job): LedgerEntry | null {
  return openEntry(job) ?? endEntry(job)
}

/** The run decision that only the end of a job tells of. */
export function endEntry(job: Job): LedgerEntry | null {
  const at = onceAt(job.spec)
  if (at === null || job.state !== 'completed' || job.counters.runs === 0) return null
  return runEntry({ jobId: job.id, origin: 'schedule', retryOf: null, occurrence: at, run: 1 })
}
