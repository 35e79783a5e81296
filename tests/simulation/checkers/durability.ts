// D: what was acknowledged is there in the end, and a success once seen stays one.

import type { Job } from '../../../src/core/job.ts'
import type { Checker, ClientCall, History, Violation } from '../history.ts'
import { violation, writesByJob } from './facts.ts'

export const checkDurability: Checker = history => [
  ...createdIsThere(history),
  ...lastWordHolds(history),
  ...runsAreThere(history),
  ...historyIsThere(history),
]

function removals(history: History): Set<string> {
  const calls = history.client.filter(({ verb, result }) => verb === 'remove' && result !== 'fail')
  return new Set(calls.map(({ jobId }) => jobId))
}

/** D1: an acknowledged job is there, unless someone may have removed it. */
function createdIsThere(history: History): Violation[] {
  const there = new Set(history.dump.jobs.map(({ id }) => id))
  const removed = removals(history)
  const pruned = new Set(
    history.writes.filter(({ call }) => call === 'prune').map(({ jobId }) => jobId),
  )
  return history.client
    .filter(
      ({ verb, result, jobId }) => verb === 'create' && result === 'ok' && !removed.has(jobId),
    )
    .filter(({ jobId }) => !there.has(jobId) && !pruned.has(jobId))
    .map(({ jobId, endedAt }) =>
      violation('D1', jobId, endedAt ?? 0, 'created and acknowledged, but it is gone'),
    )
}

/** D1: the last acknowledged control action holds, if nothing later may have changed it. */
function lastWordHolds(history: History): Violation[] {
  const found: Violation[] = []
  for (const job of history.dump.jobs) {
    const calls = history.client.filter(
      ({ jobId, result }) => jobId === job.id && result !== 'fail',
    )
    const last = calls.filter(({ verb }) => isWord(verb)).at(-1)
    if (!last || last.result !== 'ok') continue
    // Two at once may have taken effect in either order.
    const isAlone = calls.every(
      call => call === last || !isWord(call.verb) || (call.endedAt ?? Infinity) < last.invokedAt,
    )
    const why = isAlone ? broken(last, job) : null
    if (why !== null) found.push(violation('D1', job.id, last.endedAt!, why))
  }
  return found
}

const words = ['pause', 'pause until', 'resume', 'cancel', 'retry']
const isWord = (verb: string): boolean => words.includes(verb)

function broken({ verb }: ClientCall, job: Job): string | null {
  switch (verb) {
    case 'pause': {
      const isHeld = job.state === 'paused' || job.pauseAsked !== null || job.ended !== null
      return isHeld ? null : `paused and acknowledged, but it is ${job.state}`
    }
    case 'resume':
      return job.state === 'paused' && job.pause?.until === null
        ? 'resumed and acknowledged, but it is paused'
        : null
    case 'cancel':
      return job.state === 'cancelled' ? null : `cancelled and acknowledged, but it is ${job.state}`
    default:
      return null
  }
}

/** D1: a run that was promised has left an attempt, waits for its turn, or was ended by a person. */
function runsAreThere(history: History): Violation[] {
  const found: Violation[] = []
  const removed = removals(history)
  const byJob = writesByJob(history)
  for (const { verb, result, runId, endedAt, jobId } of history.client) {
    if (result !== 'ok' || runId === null || verb === 'cancel run' || removed.has(jobId)) continue
    const dot = runId.lastIndexOf('.')
    const [owner, run] = [runId.slice(0, dot), Number(runId.slice(dot + 1))]
    const writes = byJob.get(owner) ?? []
    const last = writes.at(-1)?.after
    const isTried = writes.some(write => write.attempts.some(attempt => attempt.run === run))
    const isWaiting = last && (last.kind === 'task' || last.requests.some(held => held.run === run))
    const isOpen = last?.state === 'running' || last?.state === 'cancelled'
    const isEnded = writes.some(write => write.verb === 'cancel run' || write.verb === 'cancel')
    if (isTried || isWaiting || isOpen || isEnded) continue
    found.push(violation('D1', jobId, endedAt!, `run ${runId} was promised and is nowhere`))
  }
  return found
}

/** D2: every attempt that was accepted and not pruned reads as it was written. */
function historyIsThere(history: History): Violation[] {
  const found: Violation[] = []
  const stored = new Map(history.dump.attempts.map(attempt => [attempt.id, attempt]))
  const jobs = new Map(history.dump.jobs.map(job => [job.id, job]))
  for (const { attempts, jobId, at } of history.writes) {
    const job = jobs.get(jobId)
    for (const attempt of attempts) {
      const held = stored.get(attempt.id)
      if (held && held.outcome !== attempt.outcome) {
        const text = `attempt ${attempt.number} was ${attempt.outcome} and is ${held.outcome}`
        found.push(violation('D2', jobId, at, text))
      }
      // A claim under way may have been counted when older ones were pruned.
      const kept = job ? job.counters.attempts + 1 - job.spec.retention.attempts : Infinity
      const isKept = attempt.number > kept
      if (!held && isKept) {
        found.push(violation('D1', jobId, at, `attempt ${attempt.number} is gone`))
      }
    }
  }
  return found
}
