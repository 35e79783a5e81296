// E: one holder at a time, fences that grow, stale writers that change nothing.

import type { Instant } from '../../../src/core/time.ts'
import type { Checker, History, Violation, Witness, Write } from '../history.ts'
import { attemptsOf, hasTrouble, healMs, violation, writesByJob } from './facts.ts'

export const checkExclusion: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    found.push(...fencesGrow(jobId, writes))
    found.push(...oneSuccess(jobId, writes))
    found.push(...fencedWrites(jobId, writes))
    found.push(...oneHolder(jobId, writes))
    found.push(...noHealthyLoss(history, jobId, writes))
  }
  found.push(...refusedChangesNothing(history))
  found.push(...physicalOverlap(history))
  found.push(...selfFencing(history))
  found.push(...stableKeys(history))
  return found
}

/** E1 */
function fencesGrow(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  let last = 0
  for (const { call, after, at } of writes) {
    if (call !== 'claim' || !after) continue
    const { fence } = after.counters
    if (fence <= last) found.push(violation('E1', jobId, at, `fence ${fence} after ${last}`))
    last = Math.max(last, fence)
  }
  return found
}

/** E2: at most one accepted success per run, and nothing after it. */
function oneSuccess(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  const succeeded = new Set<number>()
  for (const { attempt, write } of attemptsOf(writes)) {
    if (succeeded.has(attempt.run)) {
      const text = `run ${attempt.run} has ${attempt.outcome} after it succeeded`
      found.push(violation('E2', jobId, write.at, text))
    }
    if (attempt.outcome === 'succeeded') succeeded.add(attempt.run)
  }
  return found
}

/** E3: an accepted write showed the lease and the version that were current. */
function fencedWrites(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const write of writes) {
    const { call, before, after, token, expectedVersion, at, node } = write
    if (!before || !after) continue
    if (after.version !== before.version + 1) {
      const text = `version went from ${before.version} to ${after.version}`
      found.push(violation('E3', jobId, at, text))
    }
    if (call !== 'commit' && call !== 'renew') continue
    const held = before.lease?.token ?? null
    if (token !== held) {
      const text = `${node} wrote with ${token} while ${held} held the lease`
      found.push(violation('E3', jobId, at, text))
    }
    if (expectedVersion !== null && expectedVersion !== before.version) {
      const text = `${node} wrote over version ${before.version}, knowing ${expectedVersion}`
      found.push(violation('E3', jobId, at, text))
    }
    for (const { id, fence } of write.attempts) {
      if (id === before.lease?.attemptId && fence === before.counters.fence) continue
      found.push(violation('E3', jobId, at, `attempt ${id} was not the one under lease`))
    }
  }
  return found
}

/** E3: a refused commit changed nothing. */
function refusedChangesNothing(history: History): Violation[] {
  return history.refusals
    .filter(({ isChanged }) => isChanged)
    .map(({ jobId, at, node }) =>
      violation('E3', jobId, at, `a refused commit of ${node} changed the row`),
    )
}

/** E4: a job is claimed only when nobody holds it. */
function oneHolder(jobId: string, writes: readonly Write[]): Violation[] {
  return writes
    .filter(({ call, before }) => call === 'claim' && before && before.state !== 'waiting')
    .map(({ before, at, node }) =>
      violation('E4', jobId, at, `claimed by ${node} while it was ${before!.state}`),
    )
}

/** E5: the lease of a node that nothing happened to is never taken from it. */
function noHealthyLoss(history: History, jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const { attempt, write } of attemptsOf(writes)) {
    if (attempt.outcome !== 'abandoned' && attempt.reason !== 'lease_lost') continue
    const from = attempt.claimedAt - healMs(history)
    const isGone = history.lives.some(
      life =>
        life.node === attempt.owner &&
        life.endedAt !== null &&
        life.endedAt >= from &&
        life.endedAt <= write.at,
    )
    if (isGone || hasTrouble(history, attempt.owner, from, write.at)) continue
    const text = `attempt ${attempt.number} of healthy ${attempt.owner} was taken away`
    found.push(violation('E5', jobId, write.at, text))
  }
  return found
}

/** E5: two handlers of one job at once need an explanation. */
function physicalOverlap(history: History): Violation[] {
  const found: Violation[] = []
  const byJob = new Map<string, Witness[]>()
  for (const one of history.witness) {
    const held = byJob.get(one.jobId) ?? []
    for (const other of held) {
      if ((other.endedAt ?? Infinity) <= one.startedAt) continue
      if (isExplained(history, other, one)) continue
      const text = `f${one.fence} on ${one.node} began while f${other.fence} ran on ${other.node}`
      found.push(violation('E5', one.jobId, one.startedAt, text))
    }
    held.push(one)
    byJob.set(one.jobId, held)
  }
  return found
}

function isExplained(history: History, earlier: Witness, later: Witness): boolean {
  const { lookMs, roundTripMs, abortGraceMs } = history.bounds
  // Its node froze, died or lost the way to the store, or it was told to stop and did not.
  if (earlier.abortedAt !== null && earlier.abortedAt <= later.startedAt) return true
  if (hasTrouble(history, earlier.node, earlier.startedAt - healMs(history), later.startedAt))
    return true
  const life = history.lives.find(one => one.node === earlier.node && one.life === earlier.life)
  if (life?.endedAt != null && life.endedAt <= later.startedAt) return true
  // A person ended the run: its holder learns of it with the next look.
  const notice = lookMs + 4 * roundTripMs + abortGraceMs
  return history.writes.some(
    write =>
      write.jobId === earlier.jobId &&
      write.verb !== null &&
      write.at >= earlier.startedAt &&
      write.at <= later.startedAt &&
      write.before?.counters.fence === earlier.fence &&
      write.before.lease !== null &&
      write.after?.lease == null &&
      Math.min(earlier.endedAt ?? Infinity, earlier.abortedAt ?? Infinity) <= write.at + notice,
  )
}

/** E6: a node that is awake does not begin what its own lease no longer covers. */
function selfFencing(history: History): Violation[] {
  const found: Violation[] = []
  for (const one of history.witness) {
    // A node's clock is behind the store's by the way of an answer.
    if (one.startedAt <= one.leaseUntil + clockLagMs(history, one.node, one.startedAt)) continue
    const text = `${one.node} began f${one.fence} ${one.startedAt - one.leaseUntil} ms after its lease`
    found.push(violation('E6', one.jobId, one.startedAt, text))
  }
  return found
}

/** How far behind the store's clock a node may be: no more than its quickest look took. */
function clockLagMs(history: History, node: string, at: Instant): number {
  const life = history.lives.findLast(one => one.node === node && one.startedAt <= at)
  let best = Infinity
  for (const measure of history.measures) {
    if (measure.node !== node || measure.at > at || measure.at < (life?.startedAt ?? 0)) continue
    best = Math.min(best, measure.tookMs)
  }
  return best
}

/** E7: one key per run, and one run per key. A call put off before any work is no try of a run. */
function stableKeys(history: History): Violation[] {
  const found: Violation[] = []
  const tried = new Set<string>()
  for (const { jobId, attempts } of history.writes) {
    for (const { fence } of attempts) tried.add(`${jobId} ${fence}`)
  }
  const seen = new Map<string, { run: number; occurrence: number }>()
  for (const { jobId, run, key, fence, occurrence, startedAt } of history.witness) {
    if (!tried.has(`${jobId} ${fence}`)) continue
    for (const [name, text] of [
      [key, `key ${key}`],
      [`${jobId} ${run}`, `run ${run}`],
    ] as const) {
      const known = seen.get(name)
      if (known && (known.run !== run || known.occurrence !== occurrence)) {
        const both = `${known.run} of ${known.occurrence} and ${run} of ${occurrence}`
        found.push(violation('E7', jobId, startedAt, `${text} stands for ${both}`))
      }
      seen.set(name, { run, occurrence })
    }
    if (key !== `${jobId}.${run}`) {
      found.push(violation('E7', jobId, startedAt, `key ${key} is not that of run ${run}`))
    }
  }
  return found
}
