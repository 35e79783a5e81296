// One mark for each of the newest decisions about a job, and for each run that people asked for beside
// its schedule.

import { z } from 'zod'
import type { Attempt, Origin } from '../../core/attempt.ts'
import { runId, type Job } from '../../core/job.ts'
import { endEntry } from '../../core/kept.ts'
import { openEntry, type LedgerEntry, type SkipReason } from '../../core/ledger.ts'
import { limits } from '../../core/limits.ts'
import { serviceOf } from '../../core/service.ts'
import { iso, type Instant } from '../../core/time.ts'
import type { Store } from '../../store/store.ts'
import { executionStatus } from '../executions/view.ts'

const count = z.int().nonnegative()
const moment = z.iso.datetime()

export const slotSchema = z.strictObject({
  from: moment,
  to: moment,
  origin: z
    .enum(['schedule', 'manual', 'retry', 'backfill'])
    .meta({ description: 'Anything but schedule was asked for beside it: nothing was expected.' }),
  expected: count,
  ok: count,
  failed: count,
  cancelled: count,
  skipped: count,
  missed: count,
  running: count,
  duration_ms: z.number().nullable(),
  late_ms: z.number().nullable(),
  run_id: z.string().nullable(),
  reason: z.string().nullable(),
})

export const heartbeatAnswer = z
  .strictObject({ slots: z.array(slotSchema) })
  .meta({ id: 'Heartbeat' })

type Slot = z.output<typeof slotSchema>

const none = { ok: 0, failed: 0, cancelled: 0, skipped: 0, missed: 0, running: 0 }
const missedReasons: readonly SkipReason[] = ['missed', 'coalesced', 'age', 'cap']

/** What a slot is about: a decision of the schedule, or a run beside it. */
type Mark =
  | { readonly at: Instant; readonly entry: LedgerEntry }
  | { readonly at: Instant; readonly run: number; readonly origin: Origin }

/** One slot for each of the newest marks, the oldest of them first. */
export async function heartbeatOf(store: Store, job: Job, slots: number): Promise<Slot[]> {
  const ledger = await store.ledger(job.id, { limit: slots, newestFirst: true })
  const history = await historyOf(store, job, ledger.items, slots)
  const byRun = grouped(history)
  const open = openEntry(job)
  const isTold = open !== null && ledger.items.some(entry => entry.from === open.from)
  const entries = open === null || isTold ? ledger.items : [open, ...ledger.items]
  const marks: Mark[] = entries.map(entry => ({ at: entry.from, entry }))
  return [...marks, ...asked(job, history)]
    .toSorted((a, b) => b.at - a.at || runOf(b) - runOf(a))
    .slice(0, slots)
    .map(mark => slotOf(mark, job, byRun))
    .reverse()
}

type ByRun = ReadonlyMap<number, readonly Attempt[]>

function grouped(history: readonly Attempt[]): ByRun {
  const byRun = new Map<number, Attempt[]>()
  for (const attempt of history) {
    const own = byRun.get(attempt.run)
    if (own) own.push(attempt)
    else byRun.set(attempt.run, [attempt])
  }
  return byRun
}

/** Of two at one moment the later run is the newer one. */
function runOf(mark: Mark): number {
  if (!('entry' in mark)) return mark.run
  return mark.entry.decision === 'run' ? mark.entry.run : 0
}

/** Runs that no occurrence led to, each at its first start: a backfill serves long gone moments. */
function asked(job: Job, history: readonly Attempt[]): Mark[] {
  const runs = new Map<number, Mark>()
  for (const { run, origin, retryOf, startedAt } of history) {
    if (origin === 'schedule' && retryOf === null) continue
    // The newest come first, so the first start is seen last.
    runs.set(run, { at: startedAt, run, origin: retryOf === null ? origin : 'retry' })
  }
  if (job.lease === null || openEntry(job) !== null) return [...runs.values()]
  const { run, origin } = serviceOf(job)
  const isNew = origin !== 'schedule' && !runs.has(run.run)
  if (isNew) runs.set(run.run, { at: job.lease.claimedAt, run: run.run, origin })
  return [...runs.values()]
}

/** One attempt for each run as a rule; more are read only where runs had retries. */
async function historyOf(
  store: Store,
  job: Job,
  entries: readonly LedgerEntry[],
  slots: number,
): Promise<readonly Attempt[]> {
  const read = async (limit: number) =>
    (await store.attempts({ jobId: job.id }, { limit, newestFirst: true })).items
  const few = await read(Math.min(limits.pageMax, slots + 1))
  const oldest = Math.min(...entries.map(one => (one.decision === 'run' ? one.run : Infinity)))
  if (few.length <= slots || few.at(-1)!.run < oldest) return few
  if (new Set(few.map(({ run }) => run)).size > slots) return few
  // Those beyond the bound show no times.
  return read(Math.min(limits.pageMax, slots * 2 + 10))
}

function slotOf(mark: Mark, job: Job, history: ByRun): Slot {
  if (!('entry' in mark)) {
    const at = iso(mark.at)
    const { run, origin } = mark
    const span = { from: at, to: at, origin, expected: 0 }
    // It began when it could: whoever asked for it named no moment.
    return { ...span, ...ranSlot(run, job, history), late_ms: null }
  }
  const { entry } = mark
  const from = iso(entry.from)
  const to = entry.to === entry.from ? from : iso(entry.to)
  const span = { from, to, origin: 'schedule' as const }
  const decided = { ...span, expected: entry.count }
  if (entry.decision === 'run') return { ...decided, ...ranSlot(entry.run, job, history) }
  const isMissed = missedReasons.includes(entry.reason)
  const marks = isMissed ? { missed: entry.count } : { skipped: entry.count }
  const nothing = { duration_ms: null, late_ms: null, run_id: null }
  return { ...decided, ...none, ...marks, ...nothing, reason: entry.reason }
}

type Ran = Omit<Slot, 'from' | 'to' | 'origin' | 'expected'>

function ranSlot(run: number, job: Job, history: ByRun): Ran {
  const attempts = history.get(run) ?? []
  const last = attempts[0]
  const first = attempts.at(-1)
  return {
    ...none,
    ...marksOf(last, job, run),
    duration_ms: last ? last.finishedAt - last.startedAt : null,
    late_ms: first ? Math.max(0, first.startedAt - first.occurrence) : null,
    run_id: runId(job.id, run),
    reason: last?.reason ?? last?.error?.message ?? null,
  }
}

function marksOf(last: Attempt | undefined, job: Job, run: number): Partial<Ran> {
  const isOpen = job.current.run === run && (job.state === 'running' || job.retryAt !== null)
  const isAsked = job.requests.some(request => request.run === run)
  // A job that keeps nothing tells of its run by its end.
  if (last === undefined && endEntry(job) !== null) return { ok: 1 }
  if (isOpen || isAsked || last === undefined) return { running: 1 }
  const status = executionStatus(last.outcome)
  if (status === 'completed') return { ok: 1 }
  return status === 'failed' ? { failed: 1 } : { cancelled: 1 }
}
