// The seven words people see for a job, and which may follow which: one table for every write.

import { SchedulerError } from '../errors.ts'
import type { Job } from '../job.ts'
import { shortId } from '../short-id.ts'

export type Status =
  | 'pending'
  | 'scheduled'
  | 'running'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'cancelled'

export const transitions: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['scheduled', 'running', 'cancelled'],
  scheduled: ['running', 'paused', 'cancelled'],
  running: ['completed', 'failed', 'scheduled', 'cancelled'],
  paused: ['scheduled', 'cancelled'],
  completed: ['scheduled'],
  failed: ['pending'],
  cancelled: [],
}

/** Waiting reads as pending only before the first start of a one-off or after a manual retry. */
export function statusOf(job: Pick<Job, 'state' | 'waitingFor' | 'pauseAsked'>): Status {
  if (job.state !== 'waiting') return job.state
  return job.waitingFor === 'start' ? 'pending' : 'scheduled'
}

export function mayBecome(from: Status, to: Status): boolean {
  return from === to || transitions[from].includes(to)
}

/** Refuses a step the table does not have, naming both ends. */
export function assertTransition(job: Job, to: Status, verb: string): void {
  const from = statusOf(job)
  if (transitions[from].includes(to)) return
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot ${verb} job ${shortId(job.id)}: it is ${from} and cannot become ${to}`,
    { details: { from, to, allowed: [...transitions[from]] } },
  )
}
