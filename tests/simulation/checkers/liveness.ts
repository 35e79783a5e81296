// F: when nothing goes wrong any more, everything due is served and nothing is left behind.

import type { Checker, History, Violation } from '../history.ts'
import { hasTrouble, healMs, isSaturated, violation, writesByJob } from './facts.ts'

export const checkLiveness: Checker = history => [
  ...dueIsServed(history),
  ...nothingOrphaned(history),
  ...reapedInTime(history),
  ...withinSlots(history),
]

/** F1: long after the last fault, nothing waits that was due. */
function dueIsServed(history: History): Violation[] {
  const { checkIntervalMs, reapMs, roundTripMs } = history.bounds
  const limit = checkIntervalMs + reapMs + 2_000 + 8 * roundTripMs
  if (history.endAt - history.quietAt < limit + healMs(history)) return []
  // A node without a free slot leaves the rest where it is: that is its backpressure.
  if (isSaturated(history, history.endAt - limit, history.endAt)) return []
  return history.dump.jobs
    .filter(job => job.state === 'waiting' && job.dueAt !== null)
    .filter(job => Math.max(job.dueAt!, job.updatedAt) < history.endAt - limit)
    .map(job => violation('F1', job.id, history.endAt, `due since ${job.dueAt} and not served`))
}

/** F1: no lease is held by a node that is not there. */
function nothingOrphaned(history: History): Violation[] {
  const { leaseMs, reapMs, roundTripMs } = history.bounds
  const live = new Set(history.lives.filter(life => life.endedAt === null).map(life => life.node))
  const limit = 2 * reapMs + 4 * roundTripMs + leaseMs
  return history.dump.jobs.flatMap(job => {
    if (job.state !== 'running') return []
    const { owner, until } = job.lease!
    const isLapsed = until < history.endAt - 2 * reapMs - 4 * roundTripMs
    const isOrphan = !live.has(owner) && until < history.endAt - limit
    if (!isLapsed && !isOrphan) return []
    return [violation('F1', job.id, history.endAt, `held by ${owner} until ${until}`)]
  })
}

/** F5: while all is well, an ended lease is found within two looks for them. */
function reapedInTime(history: History): Violation[] {
  const found: Violation[] = []
  const { reapMs, roundTripMs } = history.bounds
  const limit = 2 * reapMs + 8 * roundTripMs + 500
  for (const [jobId, writes] of writesByJob(history)) {
    for (const { before, after, at, call } of writes) {
      if (call !== 'commit' || !before?.lease || after?.lease) continue
      const late = at - before.lease.until
      if (late <= limit || hasTrouble(history, null, before.lease.until - healMs(history), at))
        continue
      if (!history.lives.some(life => life.startedAt < before.lease!.until - limit)) continue
      found.push(violation('F5', jobId, at, `its lease had ended for ${late} ms`))
    }
  }
  return found
}

/** F6: no node has more handlers under way than it has slots; those told to stop have left theirs. */
function withinSlots(history: History): Violation[] {
  const found: Violation[] = []
  const { slots } = history.bounds
  const open = new Map<string, Set<number>>()
  for (const [index, one] of history.witness.entries()) {
    const key = `${one.node} ${one.life}`
    const held = open.get(key) ?? new Set()
    open.set(key, held)
    for (const other of held) {
      const { endedAt, abortedAt } = history.witness[other]!
      if ((endedAt ?? abortedAt ?? Infinity) <= one.startedAt) held.delete(other)
      else if (abortedAt !== null && abortedAt <= one.startedAt) held.delete(other)
    }
    held.add(index)
    if (held.size > slots) {
      const text = `${held.size} handlers at once on ${one.node}, which has ${slots} slots`
      found.push(violation('F6', one.jobId, one.startedAt, text))
    }
  }
  return found
}
