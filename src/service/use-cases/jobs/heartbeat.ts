// One mark for each of the newest decisions about a job, and for each run that people asked for beside
// its schedule.

import { z } from 'zod'
import type { Attempt, Origin } from '../../../core/attempt.ts'
import { runId, type Job } from '../../../core/job.ts'
import { endEntry, ownEntry } from '../../../core/history/kept.ts'
import {
  openEntry,
  runEntry,
  type LedgerEntry,
  type SkipReason,
} from '../../../core/history/ledger.ts'
import { limits } from '../../../core/limits.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso, type Instant } from '../../../core/time.ts'
import type { Store } from '../../../store/port.ts'
import { executionStatus } from '../../compat/executions/view.ts'
import { slotSchema, type Slot } from './slot.ts'
import { taskSlots } from './task-slots.ts'

export const heartbeatAnswer = z
  .strictObject({ slots: z.array(slotSchema) })
  .meta({ id: 'Heartbeat' })

const missedReasons: readonly SkipReason[] = ['missed', 'coalesced', 'age', 'cap']

/** What a slot is about: a decision of the schedule, or a run beside it. */
type Mark =
  | { readonly at: Instant; readonly entry: LedgerEntry }
  | { readonly at: Instant; readonly run: number; readonly origin: Origin }

/** One slot for each of the newest marks, the oldest of them first. */
export async function heartbeatOf(store: Store, job: Job, slots: number): Promise<Slot[]> {
  const own = await ownSlots(store, job, slots)
  if (job.series === null) return own
  return [...own, ...(await taskSlots(store, job, slots))]
    .toSorted((a, b) => Date.parse(a.from) - Date.parse(b.from))
    .slice(-slots)
}

async function ownSlots(store: Store, job: Job, slots: number): Promise<Slot[]> {
  const { history, entries } = await pastOf(store, job, slots)
  const byRun = grouped(history)
  const marks: Mark[] = entries.map(entry => ({ at: entry.from, entry }))
  return [...marks, ...asked(job, history)]
    .toSorted((a, b) => b.at - a.at || runOf(b) - runOf(a))
    .slice(0, slots)
    .map(mark => slotOf(mark, job, byRun))
    .reverse()
}

interface Past {
  readonly history: readonly Attempt[]
  readonly entries: readonly LedgerEntry[]
}

/** Attempts tell of all runs, so the ledger is read only where there was a skip. */
async function pastOf(store: Store, job: Job, slots: number): Promise<Past> {
  const own = ownEntry(job)
  if (job.totals.skipped === 0) {
    const history = await historyOf(store, job, null, slots)
    return { history, entries: decided(own, history) }
  }
  const { items } = await store.ledger(job.id, { limit: slots, newestFirst: true })
  const history = await historyOf(store, job, items, slots)
  const isTold = own === null || items.some(entry => entry.from === own.from)
  return { history, entries: isTold ? items : [own, ...items] }
}

/** One decision a moment; of several attempts the newest tells, and it comes first. */
function decided(own: LedgerEntry | null, history: readonly Attempt[]): readonly LedgerEntry[] {
  const byMoment = new Map<Instant, LedgerEntry>()
  for (const attempt of history) {
    const entry = runEntry(attempt)
    if (entry !== null && !byMoment.has(entry.from)) byMoment.set(entry.from, entry)
  }
  if (own !== null && !byMoment.has(own.from)) byMoment.set(own.from, own)
  return [...byMoment.values()]
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
  const { run, origin } = currentRunOf(job)
  const isNew = origin !== 'schedule' && !runs.has(run.run)
  if (isNew) runs.set(run.run, { at: job.lease.claimedAt, run: run.run, origin })
  return [...runs.values()]
}

/** One attempt for each run as a rule; more are read only where runs had retries. */
async function historyOf(
  store: Store,
  job: Job,
  entries: readonly LedgerEntry[] | null,
  slots: number,
): Promise<readonly Attempt[]> {
  const read = async (limit: number) =>
    (await store.attempts({ jobId: job.id }, { limit, newestFirst: true })).items
  const few = await read(Math.min(limits.pageMax, slots + 1))
  const runs = entries?.map(one => (one.decision === 'run' ? one.run : Infinity)) ?? [0]
  if (few.length <= slots || few.at(-1)!.run < Math.min(...runs)) return few
  if (new Set(few.map(({ run }) => run)).size > slots) return few
  // Those beyond the bound show no times.
  return read(Math.min(limits.pageMax, slots * 2 + 10))
}

const nothing = { ok: 0, failed: 0, cancelled: 0, skipped: 0, missed: 0, running: 0 }

function slotOf(mark: Mark, job: Job, history: ByRun): Slot {
  if (!('entry' in mark)) {
    const { at, run, origin } = mark
    // It began when it could: whoever asked for it named no moment.
    return { ...ranSlot({ at, run, origin }, job, history), late_ms: null }
  }
  const { entry } = mark
  if (entry.decision === 'run') {
    return ranSlot({ at: entry.from, run: entry.run, origin: 'schedule' }, job, history)
  }
  const { from, to, count: expected, reason } = entry
  const isMissed = missedReasons.includes(reason)
  return {
    from: iso(from),
    to: iso(to),
    origin: 'schedule',
    expected,
    ...nothing,
    ...(isMissed ? { missed: expected } : { skipped: expected }),
    duration_ms: null,
    late_ms: null,
    run_id: null,
    reason,
  }
}

interface Ran {
  readonly at: Instant
  readonly run: number
  readonly origin: Origin
}

/** In one piece: a page asks for more than a thousand of them. */
function ranSlot({ at, run, origin }: Ran, job: Job, history: ByRun): Slot {
  const attempts = history.get(run)
  const last = attempts?.[0]
  const first = attempts?.at(-1)
  const state = stateOf(last, job, run)
  const from = iso(at)
  return {
    from,
    to: from,
    origin,
    expected: origin === 'schedule' ? 1 : 0,
    ok: state === 'ok' ? 1 : 0,
    failed: state === 'failed' ? 1 : 0,
    cancelled: state === 'cancelled' ? 1 : 0,
    skipped: 0,
    missed: 0,
    running: state === 'running' ? 1 : 0,
    duration_ms: last ? last.finishedAt - last.startedAt : null,
    late_ms: first ? Math.max(0, first.startedAt - first.occurrence) : null,
    run_id: runId(job.id, run),
    reason: last?.reason ?? last?.error?.message ?? null,
  }
}

type RunState = 'ok' | 'failed' | 'cancelled' | 'running'

function stateOf(last: Attempt | undefined, job: Job, run: number): RunState {
  // A job that keeps nothing tells of its run by its end.
  if (last === undefined) return endEntry(job) === null ? 'running' : 'ok'
  const isOpen = job.current.run === run && (job.state === 'running' || job.retryAt !== null)
  if (isOpen || job.requests.some(request => request.run === run)) return 'running'
  const status = executionStatus(last.outcome)
  if (status === 'completed') return 'ok'
  return status === 'failed' ? 'failed' : 'cancelled'
}
