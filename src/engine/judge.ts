// Gathers what this node knows about the owners of lost attempts and asks the core for verdicts.

import type { Outcome } from '../core/attempt.ts'
import type { Job } from '../core/job.ts'
import { BEAT_KIND, beatAt, isNodeOwner } from '../core/run/owner.ts'
import { judgeLostAttempt } from '../core/run/verdict.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Store } from '../store/port.ts'

export type OnTime = { readonly onTimeMs: Millis; readonly isOnTimeSinceStart: boolean }

export interface JudgeParts {
  readonly store: Pick<Store, 'getRecords'>
  readonly settings: { readonly leaseMs: Millis }
  /** How this node's own store calls went. */
  readonly onTime: OnTime
}

/** One read for all owners; the beats are read after the leases were found to have ended. */
export async function judgeAll(
  { store, settings, onTime }: JudgeParts,
  jobs: readonly Job[],
  now: Instant,
): Promise<(job: Job) => Outcome> {
  const owners = new Set(jobs.flatMap(({ lease }) => (lease ? [lease.owner] : [])))
  const nodes = [...owners].filter(isNodeOwner)
  const records = nodes.length === 0 ? [] : await store.getRecords(BEAT_KIND, nodes, now)
  const beats = new Map(records.map(({ key, value }) => [key, beatAt(value)]))
  const { onTimeMs, isOnTimeSinceStart } = onTime
  return ({ lease }) => {
    const { owner } = lease!
    const kind = isNodeOwner(owner) ? 'node' : 'worker'
    const evidence = {
      owner: kind,
      beatAt: beats.get(owner) ?? null,
      onTimeMs,
      isOnTimeSinceStart,
    } as const
    return judgeLostAttempt(evidence, settings.leaseMs, now)
  }
}
