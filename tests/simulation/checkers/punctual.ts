// T5 and T6: nothing starts early by the store's clock, and nothing is late while all is well.

import type { Instant } from '../../../src/core/time.ts'
import type { Checker, History, Violation, Write } from '../history.ts'
import { hasTrouble, healMs, isSaturated, violation, writesByJob } from './facts.ts'

export const checkPunctual: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    for (const [i, write] of writes.entries()) {
      if (write.call !== 'claim' || !write.before || write.before.dueAt === null) continue
      found.push(...notEarly(jobId, write))
      found.push(...notLate(history, jobId, { write, waitingSince: writes[i - 1]?.at ?? 0 }))
    }
  }
  found.push(...notBeforeOccurrence(history))
  return found
}

/** No handler is called for a moment that has not come. */
function notBeforeOccurrence(history: History): Violation[] {
  const found: Violation[] = []
  for (const { jobId, occurrence, startedAt, node, fence } of history.witness) {
    const early = occurrence - startedAt
    if (early <= 0) continue
    const text = `f${fence} began on ${node} ${early} ms before its occurrence`
    found.push(violation('T5', jobId, startedAt, text))
  }
  return found
}

function notEarly(jobId: string, write: Write): Violation[] {
  const early = write.before!.dueAt! - write.at
  if (early <= 0) return []
  return [
    violation('T5', jobId, write.at, `claimed by ${write.node} ${early} ms before it was due`),
  ]
}

function notLate(
  history: History,
  jobId: string,
  { write, waitingSince }: { write: Write; waitingSince: Instant },
): Violation[] {
  const { checkIntervalMs, reapMs, roundTripMs } = history.bounds
  const dueAt = Math.max(write.before!.dueAt!, waitingSince)
  const late = write.at - dueAt
  const limit = checkIntervalMs + reapMs + 1_000 + 8 * roundTripMs
  if (late <= limit) return []
  if (hasTrouble(history, null, dueAt - healMs(history), write.at)) return []
  if (isSaturated(history, dueAt - limit, write.at)) return []
  if (!history.lives.some(life => life.startedAt < dueAt - limit)) return []
  return [violation('T6', jobId, write.at, `claimed ${late} ms late while all was well`)]
}
