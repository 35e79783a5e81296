// The runs of a series as slots of its heartbeat, told by the rows of its tasks.

import { runId, type Job } from '../../../core/job.ts'
import { iso, type Instant, type Millis } from '../../../core/time.ts'
import type { Store } from '../../../store/port.ts'
import { executionStatus } from '../../compat/executions/view.ts'
import type { Slot } from './slot.ts'

/** The newest first. Tasks that nobody has started yet are left out, as waiting firings are. */
export async function taskSlots(store: Store, series: Job, limit: number): Promise<Slot[]> {
  const { items } = await store.list({ seriesId: series.id }, { limit, newestFirst: true })
  return items.filter(({ counters }) => counters.attempts > 0).map(task => slotOf(series, task))
}

function slotOf(series: Job, task: Job): Slot {
  const { last } = task
  const at = occurrenceOf(task)
  const isScheduled = isOccurrence(series, task)
  const state = stateOf(task)
  return {
    from: iso(at),
    to: iso(at),
    origin: isScheduled ? 'schedule' : task.current.retryOf === null ? 'manual' : 'retry',
    expected: isScheduled ? 1 : 0,
    ok: state === 'ok' ? 1 : 0,
    failed: state === 'failed' ? 1 : 0,
    cancelled: state === 'cancelled' ? 1 : 0,
    skipped: 0,
    missed: 0,
    running: state === 'running' ? 1 : 0,
    duration_ms: last === null ? null : last.finishedAt - last.startedAt,
    late_ms: isScheduled ? latenessOfTask(task) : null,
    run_id: runId(task.id, Math.max(1, task.counters.runs)),
    reason: task.lastError?.message ?? null,
  }
}

function stateOf({ state, last }: Job): 'ok' | 'failed' | 'cancelled' | 'running' {
  if (state === 'waiting' || state === 'running' || state === 'paused') return 'running'
  if (state === 'failed') return 'failed'
  if (state === 'cancelled' || last === null) return 'cancelled'
  const status = executionStatus(last.outcome)
  return status === 'completed' ? 'ok' : status === 'failed' ? 'failed' : 'cancelled'
}

function occurrenceOf({ spec, createdAt }: Job): Instant {
  return spec.trigger.kind === 'once' ? spec.trigger.at : createdAt
}

/** Made by a firing, not by a person. */
export function isOccurrence(series: Pick<Job, 'id'>, task: Job): boolean {
  const id = `${series.id}@${occurrenceOf(task)}`
  // With the clock epoch behind it, once the clock was set back.
  return task.id === id || task.id.startsWith(`${id}~`)
}

/** Null for one that was tried again: its row has only the start of its last attempt. */
export function latenessOfTask(task: Job): Millis | null {
  const { last, counters } = task
  if (last === null || counters.attempts > 1) return null
  return Math.max(0, last.startedAt - occurrenceOf(task))
}
