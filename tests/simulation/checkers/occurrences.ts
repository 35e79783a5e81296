// T: every moment a schedule names has exactly one decision, for a reason its policy allows.

import type { Checker, History, Violation, Write } from '../history.ts'
import { hasGrid, scheduleOf, type Schedule } from '../oracle.ts'
import { decisionsOf, shownDecision, violation, writesByJob, type Decision } from './facts.ts'
import { legalSkips } from './skips.ts'

export const checkOccurrences: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    const created = writes.find(write => write.call === 'insert')?.after
    if (!created || created.kind !== 'job') continue
    const decisions = decisionsOf(history, jobId)
    const schedule = scheduleOf(history, writes)
    if (schedule) {
      found.push(...onceEach(history, writes, schedule, decisions))
      found.push(...noPhantoms(jobId, schedule, decisions))
    } else found.push(...noneTwice(jobId, decisions))
    found.push(...legalSkips(jobId, writes, decisions))
    found.push(...boundedCatchUp(jobId, writes))
    found.push(...exactRunLimit(jobId, writes, decisions))
    found.push(...noDrift(jobId, writes))
  }
  return found
}

/** The moment whose run was still under way at the end. */
function openMoment(writes: readonly Write[]): number | null {
  const row = writes.at(-1)?.after
  if (!row || row.serving !== null) return null
  return row.state === 'running' || row.current.run > 0 ? row.nextAt : null
}

/** T1 and T2: every required moment is decided, none twice. */
function onceEach(
  history: History,
  writes: readonly Write[],
  schedule: Schedule,
  decisions: readonly Decision[],
): Violation[] {
  const { jobId } = writes[0]!
  const found = noneTwice(jobId, decisions)
  const sorted = [...decisions].sort((a, b) => a.from - b.from)
  let i = 0
  for (const at of schedule.required) {
    while (i < sorted.length && sorted[i]!.to < at) i++
    const decided = sorted[i]
    if (decided && decided.from <= at) continue
    if (at === openMoment(writes)) continue
    found.push(violation('T1', jobId, Math.min(at, history.endAt), `no decision for ${at}`))
  }
  return found
}

function noneTwice(jobId: string, decisions: readonly Decision[]): Violation[] {
  const found: Violation[] = []
  const sorted = [...decisions].sort((a, b) => a.from - b.from || a.to - b.to)
  for (let i = 1; i < sorted.length; i++) {
    const [a, b] = [sorted[i - 1]!, sorted[i]!]
    if (b.from > a.to) continue
    const text = `${b.from} is decided twice: ${shownDecision(a)} and ${shownDecision(b)}`
    found.push(violation('T2', jobId, b.write.at, text))
  }
  return found
}

/** T3: what was decided was on the schedule. */
function noPhantoms(
  jobId: string,
  { targets }: Schedule,
  decisions: readonly Decision[],
): Violation[] {
  const found: Violation[] = []
  const sorted = [...targets.keys()].sort((a, b) => a - b)
  for (const one of decisions) {
    const { from, to, count, write } = one
    if (!targets.has(from) || !targets.has(to)) {
      found.push(violation('T3', jobId, write.at, `${shownDecision(one)} is not on the schedule`))
      continue
    }
    const real = one.kind === 'run' ? 1 : sorted.filter(at => at >= from && at <= to).length
    if (real !== count) {
      const text = `${shownDecision(one)} counts ${count} moments, the schedule has ${real}`
      found.push(violation('T3', jobId, write.at, text))
    }
  }
  return found
}

/** T10: an outage of any length grants a bounded number of runs. */
function boundedCatchUp(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const { at, before, after } of writes) {
    if (!before || !after || after.backlog <= Math.max(1, before.backlog)) continue
    const { missed, overlap } = after.spec
    const granted = missed.policy === 'all' ? missed.max : 1
    const queued = overlap.policy === 'queue' ? overlap.limit : 1
    const max = Math.max(granted, queued)
    if (overlap.policy !== 'allow' && after.backlog > max) {
      found.push(violation('T10', jobId, at, `${after.backlog} runs granted, at most ${max}`))
    }
  }
  return found
}

/** T11: never more scheduled runs than the limit, and completed only when it is reached. */
function exactRunLimit(
  jobId: string,
  writes: readonly Write[],
  decisions: readonly Decision[],
): Violation[] {
  const last = writes.at(-1)!
  const { spec, counters, ended, state } = last.after ?? last.before!
  const edits = writes.some(write => write.verb === 'edit' && write.before?.state === 'completed')
  if (spec.runLimit === null || edits) return []
  const runs = decisions.filter(one => one.kind === 'run').length
  const text = `${runs} runs, ${counters.concluded} concluded, limit ${spec.runLimit}`
  if (runs > spec.runLimit || counters.concluded > spec.runLimit) {
    return [violation('T11', jobId, last.at, text)]
  }
  const isShort = state === 'completed' && ended?.reason === 'completed'
  if (isShort && spec.endAt === null && counters.concluded !== spec.runLimit) {
    return [violation('T11', jobId, last.at, `completed early: ${text}`)]
  }
  return []
}

/** T7: the cursor only moves forward, and floating intervals keep to their arithmetic. */
function noDrift(jobId: string, writes: readonly Write[]): Violation[] {
  const found: Violation[] = []
  for (const write of writes) {
    const { before, after, verb, at } = write
    if (!before?.nextAt || !after?.nextAt || before.nextAt === after.nextAt) continue
    if (after.nextAt < before.nextAt && verb !== 'edit') {
      const text = `the cursor went back from ${before.nextAt} to ${after.nextAt}`
      found.push(violation('T7', jobId, at, text))
    }
    if (!hasGrid(after.spec) && verb === null) found.push(...floatingStep(jobId, write))
  }
  return found
}

/** After a run that ended, the next moment of `start` and `finish` intervals is arithmetic. */
function floatingStep(jobId: string, write: Write): Violation[] {
  const { before, after } = write
  const { trigger, overlap, retry } = after!.spec
  const attempt = write.attempts.at(-1)
  if (trigger.kind !== 'interval' || !attempt || before!.serving !== null) return []
  if (before!.state !== 'running' || after!.current.failures > 0) return []
  const { everyMs, from } = trigger
  const { startedAt, finishedAt } = attempt
  const passed = Math.floor((finishedAt - startedAt) / everyMs)
  const ahead = startedAt + (passed + 1) * everyMs
  const expected =
    from === 'finish'
      ? finishedAt + everyMs
      : overlap.policy === 'replace' && passed > 0
        ? ahead - everyMs
        : ahead
  if (after!.nextAt === expected || retry.exhausted === 'wait') return []
  const text = `next is ${after!.nextAt} instead of ${expected} (${from}, run ${attempt.run})`
  return [violation('T7', jobId, write.at, text)]
}
