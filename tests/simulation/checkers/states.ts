// S: jobs move only along the table, and what people ask for holds: a paused job is not claimed, a
// cancelled one never comes back.

import type { Job, State } from '../../../src/core/job.ts'
import type { Checker, History, Violation, Write } from '../history.ts'
import { hasTrouble, healMs, violation, writesByJob } from './facts.ts'

/** From a state, by whom, to which states. */
const engineMoves: Readonly<Record<State, readonly State[]>> = {
  waiting: ['running'],
  running: ['waiting', 'completed', 'failed', 'paused'],
  paused: ['waiting'],
  completed: [],
  failed: [],
  cancelled: [],
}
const personMoves: Readonly<Record<State, readonly State[]>> = {
  waiting: ['paused', 'cancelled', 'completed'],
  running: ['cancelled', 'waiting', 'paused', 'completed'],
  paused: ['waiting', 'cancelled'],
  completed: ['waiting'],
  failed: ['waiting'],
  cancelled: [],
}

export const checkStates: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    found.push(...legalMoves(jobId, writes))
    found.push(...pausedIsQuiet(jobId, writes))
  }
  found.push(...endedIsEnded(history))
  found.push(...cancelIsHeard(history))
  return found
}

/** S1 and S2 */
function legalMoves(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const { before, after, verb, at, call } of writes) {
    if (!before || !after || before.state === after.state) continue
    const moves = verb === null ? engineMoves : personMoves
    if (moves[before.state].includes(after.state)) continue
    const text = `${before.state} became ${after.state} by ${verb ?? call}`
    found.push(violation('S1', jobId, at, text))
  }
  return found
}

/** S3: between an accepted pause and the next resume nothing is claimed. */
function pausedIsQuiet(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  let isPaused = false
  for (const write of writes) {
    const { call, after, at, verb } = write
    if (!after) continue
    if (call === 'claim' && isPaused) {
      found.push(violation('S3', jobId, at, `claimed by ${write.node} while paused`))
    }
    if (verb === 'pause' || verb === 'pause until') isPaused = true
    const isOver = isResume(write) || after.state === 'cancelled'
    if (isOver) isPaused = false
    // A job that ended before its pause was honoured has nothing to pause.
    if (after.state === 'completed' || after.state === 'failed') isPaused = false
  }
  return found
}

function isResume({ before, after, verb }: Write): boolean {
  if (verb === 'resume') return true
  return before?.state === 'paused' && after?.state !== 'paused' && isDuePause(before)
}

/** A pause that ends by itself. */
function isDuePause({ pause }: Job): boolean {
  return pause?.until != null
}

/** S2: a cancelled row is never written again, whoever was still at work on it. */
function endedIsEnded(history: History): Violation[] {
  return history.writes
    .filter(({ before, after }) => before?.state === 'cancelled' && after !== null)
    .filter(({ before, after }) => !countsTasks(before!, after!) && !liftsHold(before!, after!))
    .map(({ jobId, at, node, verb, call }) =>
      violation('S2', jobId, at, `${node} wrote (${verb ?? call}) over a cancelled job`),
    )
}

/** A series counts the tasks that ended with it. */
function countsTasks(before: Job, after: Job): boolean {
  return (
    before.state === after.state && JSON.stringify(before.series) !== JSON.stringify(after.series)
  )
}

/** Its handler has returned: the next start need not wait for it, and nothing else is written. */
function liftsHold(before: Job, after: Job): boolean {
  if (before.hold === null || after.hold !== null) return false
  const { version, updatedAt, hold } = after
  return JSON.stringify({ ...before, version, updatedAt, hold }) === JSON.stringify(after)
}

/** S3: a handler whose run was ended by a person hears of it within a look. */
function cancelIsHeard(history: History): Violation[] {
  const found: Violation[] = []
  const { lookMs, roundTripMs } = history.bounds
  const limit = lookMs + 4 * roundTripMs + 100
  for (const { at, jobId, before, after, verb } of history.writes) {
    const isCancel = verb === 'cancel' || verb === 'cancel run' || verb === 'remove'
    if (!isCancel || !before?.lease || after?.lease) continue
    const { fence } = before.counters
    const one = history.witness.find(held => held.jobId === jobId && held.fence === fence)
    // A lookout that sees it one round late is within the bound twice over.
    if (!one || (one.endedAt ?? Infinity) <= at + 2 * limit) continue
    if (hasTrouble(history, one.node, at - healMs(history), at + 2 * limit)) continue
    const life = history.lives.find(held => held.node === one.node && held.life === one.life)
    if (life?.endedAt != null && life.endedAt <= at + 2 * limit) continue
    if (one.abortedAt !== null && one.abortedAt <= at + 2 * limit) continue
    if (at + 2 * limit > history.endAt) continue
    const text = `f${fence} on ${one.node} was not told within ${2 * limit} ms of ${verb}`
    found.push(violation('S3', jobId, at, text))
  }
  return found
}
