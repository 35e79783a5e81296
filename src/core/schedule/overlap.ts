// What overlap means for a firing that comes while a run is under way.

import type { CurrentRun } from '../run/current-run.ts'
import { upcomingFiring } from './firings.ts'
import type { Job } from '../job.ts'
import type { Overlap } from '../spec.ts'
import type { Instant } from '../time.ts'

/** How many of the firings that passed during a run are still served. */
export function keptFirings(overlap: Overlap): number {
  switch (overlap.policy) {
    case 'skip':
      return 0
    case 'queue':
      return overlap.limit
    case 'replace':
      return 1
    case 'allow':
      return 0
  }
}

/** With overlap replace, the next firing ends this run; null where none does. */
export function supersededAt(job: Job, current: CurrentRun, startedAt: Instant): Instant | null {
  const { trigger, overlap } = job.spec
  if (overlap.policy !== 'replace' || current.request) return null
  if (trigger.kind === 'interval' && trigger.from === 'start') return startedAt + trigger.everyMs
  return upcomingFiring(job)
}
