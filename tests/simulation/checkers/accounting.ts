// A: numbers without gaps, sums that equal the history they summarise, no handler without a claim.

import type { Attempt } from '../../../src/core/attempt.ts'
import type { Totals } from '../../../src/core/job.ts'
import type { Checker, History, Violation, Write } from '../history.ts'
import { attemptsOf, byRun, decisionsOf, lastRow, violation, writesByJob } from './facts.ts'

export const checkAccounting: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    found.push(...gaplessRuns(jobId, writes))
    found.push(...gaplessNumbers(jobId, writes))
    found.push(...equalTotals(jobId, writes))
    found.push(...conserved(history, jobId, writes))
    found.push(...shapes(jobId, writes))
  }
  found.push(...noGhosts(history))
  return found
}

/** A1: attempts of a run are 1, 2, 3, … */
function gaplessRuns(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const [run, attempts] of byRun(writes)) {
    for (const [i, { attempt, finishedAt }] of attempts.entries()) {
      if (attempt === i + 1) continue
      const text = `run ${run}: attempt ${attempt} where ${i + 1} was due`
      found.push(violation('A1', jobId, finishedAt, text))
      break
    }
  }
  return found
}

/** A2 and A6: numbers of a job are 1, 2, 3, … each with one outcome, and the counter agrees. */
function gaplessNumbers(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  const ids = new Set<string>()
  const all = attemptsOf(writes)
  for (const [i, { attempt, write }] of all.entries()) {
    if (attempt.number !== i + 1) {
      const text = `attempt number ${attempt.number} where ${i + 1} was due`
      found.push(violation('A6', jobId, write.at, text))
      break
    }
    if (ids.has(attempt.id)) {
      found.push(violation('A2', jobId, write.at, `attempt ${attempt.id} ended twice`))
    }
    ids.add(attempt.id)
  }
  const row = lastRow(writes)
  const open = row?.state === 'running' ? 1 : 0
  if (row && row.counters.attempts !== all.length + open) {
    const text = `the row counts ${row.counters.attempts} attempts, history has ${all.length} + ${open}`
    found.push(violation('A6', jobId, writes.at(-1)!.at, text))
  }
  return found
}

/** A4: the row's sums are those of its history, pruned rows included. */
function equalTotals(jobId: string, writes: readonly Write[]): Violation[] {
  const row = lastRow(writes)
  if (!row) return []
  const expected = totalsOf(
    attemptsOf(writes).map(({ attempt }) => attempt),
    writes.flatMap(write => write.skips).reduce((sum, skip) => sum + skip.count, 0),
  )
  const found: Violation[] = []
  for (const key of Object.keys(expected) as (keyof Totals)[]) {
    if (row.totals[key] === expected[key]) continue
    const text = `totals.${key} is ${row.totals[key]}, history says ${expected[key]}`
    found.push(violation('A4', jobId, writes.at(-1)!.at, text))
  }
  return found
}

function totalsOf(attempts: readonly Attempt[], skipped: number): Totals {
  const count = (...kinds: Attempt['outcome'][]) =>
    attempts.filter(({ outcome }) => kinds.includes(outcome)).length
  return {
    succeeded: count('succeeded'),
    failed: count('failed', 'timedOut', 'abandoned'),
    cancelled: count('cancelled', 'interrupted'),
    other: count('skipped', 'deferred'),
    skipped,
    durationMs: attempts.reduce((sum, one) => sum + one.finishedAt - one.startedAt, 0),
  }
}

/** A3: what was decided to run has come to an end or is open; nothing ends that was not decided. */
function conserved(history: History, jobId: string, writes: readonly Write[]): Violation[] {
  const row = lastRow(writes)
  if (!row || row.kind !== 'job') return []
  const decided = decisionsOf(history, jobId).filter(({ kind }) => kind === 'run').length
  const { concluded } = row.counters
  // Ended by a person before its first attempt: counted, but nobody saw it run.
  // Tried again by a person: a run of its own that ends once more.
  const unseen = writes.filter(({ verb }) => verb === 'cancel run' || verb === 'retry').length
  // Dropped by a person: a pause and a stop end the run without concluding it.
  const dropped = writes.filter(
    ({ before, after }) =>
      before?.state !== after?.state && (after?.state === 'paused' || after?.state === 'failed'),
  ).length
  const open = row.current.run > 0 || row.state === 'running' || row.state === 'cancelled' ? 1 : 0
  const most = decided + unseen
  const least = decided - open - dropped
  if (concluded <= most && concluded >= least) return []
  const text = `${concluded} concluded, ${decided} decided, ${open} open, ${dropped} dropped`
  return [violation('A3', jobId, writes.at(-1)!.at, text)]
}

/** The null rules of a row: what each state must and must not have. */
function shapes(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const { after, at } of writes) {
    if (!after) continue
    const { state, lease, dueAt, spec, ended } = after
    const isEnded = state === 'completed' || state === 'failed' || state === 'cancelled'
    if ((lease !== null) !== (state === 'running')) {
      found.push(violation('A2', jobId, at, `${state} ${lease ? 'with' : 'without'} a lease`))
    }
    if (state !== 'waiting' && dueAt !== null) {
      found.push(violation('A2', jobId, at, `${state} but due at ${dueAt}`))
    }
    if (state === 'waiting' && dueAt === null && spec.trigger.kind !== 'manual') {
      found.push(violation('A2', jobId, at, 'waiting for nothing'))
    }
    if (isEnded !== (ended !== null)) {
      found.push(violation('A2', jobId, at, `${state}, ended ${JSON.stringify(ended)}`))
    }
  }
  return found
}

/** A5: every call of a handler belongs to one claim of its node; every success was witnessed. */
function noGhosts(history: History): Violation[] {
  const found: Violation[] = []
  const claims = new Map<string, string>()
  for (const { call, after, node } of history.writes) {
    if (call === 'claim' && after) claims.set(`${after.id} ${after.counters.fence}`, node)
  }
  const starts = new Set<string>()
  const ended = new Set<string>()
  for (const one of history.witness) {
    const key = `${one.jobId} ${one.fence}`
    if (claims.get(key) !== one.node) {
      found.push(violation('A5', one.jobId, one.startedAt, `f${one.fence} ran without a claim`))
    }
    if (starts.has(key)) {
      found.push(violation('A5', one.jobId, one.startedAt, `f${one.fence} was called twice`))
    }
    starts.add(key)
    if (one.ended === 'ok') ended.add(key)
  }
  for (const [jobId, writes] of writesByJob(history)) {
    for (const { attempt, write } of attemptsOf(writes)) {
      const isSeen = ended.has(`${jobId} ${attempt.fence}`)
      if (attempt.outcome === 'succeeded' && !isSeen) {
        const text = `attempt ${attempt.number} succeeded but no handler did`
        found.push(violation('A5', jobId, write.at, text))
      }
    }
  }
  return found
}
