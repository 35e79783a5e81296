// T4: a skip has a reason, and the reason fits the policy and what was going on.

import type { Job } from '../../../src/core/job.ts'
import type { JobSpec } from '../../../src/core/spec.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { Violation, Write } from '../history.ts'
import { shownDecision, violation, type Decision } from './facts.ts'

/** T4: each reason needs a policy that allows it and a situation that gives rise to it. */
export function legalSkips(
  jobId: string,
  writes: readonly Write[],
  decisions: readonly Decision[],
): Violation[] {
  const found: Violation[] = []
  for (const one of decisions) {
    if (one.kind !== 'skip') continue
    const why = illegal(one, writes, decisions)
    if (why !== null)
      found.push(violation('T4', jobId, one.write.at, `${shownDecision(one)}: ${why}`))
  }
  return found
}

/** Crashes in a row after which occurrences pass by a job. */
const SET_ASIDE_CRASHES = 5

function illegal(
  skip: Decision,
  writes: readonly Write[],
  decisions: readonly Decision[],
): string | null {
  const { write } = skip
  const before = write.before!
  const { spec } = before
  const decidedAt = write.after!.updatedAt
  switch (skip.reason) {
    case 'coalesced':
      return spec.missed.policy === 'once' ? null : `the policy is ${spec.missed.policy}`
    case 'missed':
      return missedIsLegal(skip, spec, decidedAt, decisions) ? null : 'it was not late'
    case 'age':
    case 'cap':
      return spec.missed.policy === 'all' || spec.lateLimitMs !== null ? null : 'no catch-up'
    case 'overlap':
      return overlapIsLegal(skip, before, writes) ? null : 'no run was under way'
    case 'paused':
      return before.state === 'paused' ? null : `the job was ${before.state}`
    case 'stopped':
      return before.state === 'failed' ? null : `the job was ${before.state}`
    case 'budget':
      return spec.retry.exhausted === 'wait' ? null : `exhausted is ${spec.retry.exhausted}`
    case 'crash_loop':
      return before.crashes >= SET_ASIDE_CRASHES ? null : `${before.crashes} crashes`
    case 'edited':
      return write.verb === 'edit' ? null : 'nobody edited it'
    case 'cancelled':
      return write.verb?.startsWith('cancel') ? null : 'nobody cancelled it'
    default:
      return 'unknown reason'
  }
}

/** Late beyond what the spec allows, or superseded by a later moment under `skip`. */
function missedIsLegal(
  skip: Decision,
  spec: JobSpec,
  decidedAt: Instant,
  decisions: readonly Decision[],
): boolean {
  const late = decidedAt - skip.to
  if (spec.lateLimitMs !== null && late > spec.lateLimitMs) return true
  if (spec.missed.policy !== 'skip') return false
  const isSuperseded =
    skip.write.after!.state === 'running' ||
    decisions.some(
      ({ kind, from, write }) => kind === 'run' && from > skip.to && write.at === skip.write.at,
    )
  return late > spec.graceMs || isSuperseded
}

/** The spans in which a run of the schedule was open: from its claim or grant to its end. */
function openSpans(writes: readonly Write[]): { from: Instant; to: Instant }[] {
  const spans: { from: Instant; to: Instant }[] = []
  let open: { nextAt: Instant | null; from: Instant } | null = null
  for (const { at, after } of writes) {
    if (open && (!after || after.nextAt !== open.nextAt)) {
      spans.push({ from: open.from, to: at })
      open = null
    }
    if (open || !after || after.serving !== null) continue
    // A granted firing that waits for its turn holds up the later ones like one that runs.
    if (after.state === 'running') open = { nextAt: after.nextAt, from: after.lease!.claimedAt }
    else if (after.backlog > 0) open = { nextAt: after.nextAt, from: at }
  }
  if (open) spans.push({ from: open.from, to: Infinity })
  return spans
}

/** Clocks of two nodes may differ by a round trip. */
const SLACK_MS = 1_000

/** Passed while a run of the schedule was open. */
function overlapIsLegal(skip: Decision, before: Job, writes: readonly Write[]): boolean {
  if (before.spec.overlap.policy === 'allow') return false
  // A run that began behind the wait after a crash also stands for what passed during that wait.
  if (before.crashes > 0) return true
  const spans = openSpans(writes)
  return [skip.from, skip.to].every(at =>
    spans.some(span => at >= span.from - SLACK_MS && at <= span.to + SLACK_MS),
  )
}
