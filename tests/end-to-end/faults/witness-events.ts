// Outcomes and failures of an engine, written to its witness file as they happen.

import type { OutcomeKind } from '../../../src/core/attempt.ts'
import type { Events } from '../../../src/runtime/events.ts'
import type { WitnessLog } from './witness.ts'

interface AcceptedAttempt {
  readonly jobId: string
  readonly run: number
  readonly fence: number
  readonly id: string
  readonly outcome: OutcomeKind
}

export function recordEvents(events: Events, log: WitnessLog): void {
  const accepted = (attempt: AcceptedAttempt) => {
    const { jobId: job, run, fence, id, outcome } = attempt
    log.note({ kind: 'accepted', job, run, fence, id, outcome })
  }
  events.on('settled', ({ settled }) => {
    for (const { attempt } of settled) if (attempt) accepted(attempt)
  })
  events.on('leaseLost', ({ job, reason }) => {
    log.note({ kind: 'lost', job: job.id, fence: job.counters.fence, reason })
  })
  events.on('error', ({ during, error }) => {
    log.note({ kind: 'error', during, message: String(error) })
  })
}
