// What the engine tells: typed events in batches. Logs, metrics and callers only listen.

import type { JobAlert } from '../core/alerts/episode.ts'
import { INCIDENT_KIND } from '../core/alerts/incident.ts'
import type { Trouble } from '../core/alerts/trouble.ts'
import type { AbortReason, Attempt } from '../core/attempt.ts'
import type { Change } from '../core/change.ts'
import type { Skip } from '../core/history/ledger.ts'
import type { Job } from '../core/job.ts'
import { TASK_OUTCOME_KIND } from '../core/schedule/series.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { LogLine, PruneResult } from '../store/port.ts'

export type ErrorKind = 'store' | 'claim' | 'record' | 'push' | 'cron'

export interface Settled {
  readonly job: Job
  readonly attempt: Attempt | null
  readonly skips: readonly Skip[]
  /** The earliest firing that became a task in this step or was folded into one; absent if none. */
  readonly firedFor?: Instant
}

export interface EngineEvents {
  /** Jobs were made, edited, paused, resumed, cancelled, retried: by which verb. */
  changed: { readonly verb: string; readonly jobs: readonly Job[] }
  removed: { readonly ids: readonly string[] }
  /** Stored jobs that no running node of their label declares were archived or removed. */
  undeclared: {
    readonly jobs: readonly Job[]
    readonly app: string
    readonly as: 'archived' | 'forgotten'
  }
  claimed: { readonly jobs: readonly Job[]; readonly queue: string }
  started: { readonly jobs: readonly Job[] }
  settled: { readonly settled: readonly Settled[] }
  /** Outcomes of tasks were stored for their series to count, under these keys. */
  taskOutcomes: { readonly keys: readonly string[] }
  /** So many incidents were stored by this process, to be told of (core/alerts/incident). */
  incidents: { readonly count: number }
  /** An episode of a job began, got worse or ended, and this process is the one that tells of it. */
  alerted: { readonly alert: JobAlert }
  /** Series that counted outcomes of their tasks. */
  seriesFolded: { readonly jobs: readonly Job[] }
  progressed: { readonly job: Job; readonly fraction: number; readonly note: string | null }
  logged: { readonly job: Job; readonly line: LogLine }
  leaseLost: { readonly job: Job; readonly reason: string }
  reaped: { readonly jobs: readonly Job[] }
  resumed: { readonly jobs: readonly Job[] }
  pruned: PruneResult
  ticked: { readonly tookMs: Millis; readonly claimed: number }
  stateChanged: { readonly from: NodeState; readonly to: NodeState }
  error: { readonly kind: ErrorKind; readonly error: unknown; readonly during: string }
  /** The store's clock was set back: told by the node that opened the clock epoch. */
  clockSetBack: { readonly backMs: Millis; readonly epoch: number }
  recovered: { readonly during: string; readonly afterMs: Millis }
  stray: { readonly job: Job }
  /** The handler of an ended attempt runs on although the hold for it has ended. */
  stillRunning: { readonly job: Job; readonly attemptId: string }
  /** An episode of trouble with this node began, or ended. */
  troubled: { readonly trouble: Trouble }
  troubleOver: { readonly trouble: Trouble; readonly afterMs: Millis }
  /** A handler that ignored its signal has returned; its result is refused. */
  lateResult: { readonly job: Job; readonly reason: AbortReason }
  /** The run succeeded, and what its handler returned could not be kept. */
  resultOmitted: { readonly job: Job; readonly why: string }
}

export type NodeState = 'stopped' | 'starting' | 'running' | 'stopping' | 'error'
export type EventName = keyof EngineEvents
type Listener<N extends EventName> = (event: EngineEvents[N]) => void

export class Events {
  readonly #listeners = new Map<EventName, Set<Listener<never>>>()

  on<N extends EventName>(name: N, listener: Listener<N>): () => void {
    const held = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, held)
    held.add(listener)
    return () => held.delete(listener)
  }

  /** Whether building the event is worth it. */
  isHeard(name: EventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  /** A listener that throws must not stop the engine, nor the listeners after it. */
  emit<N extends EventName>(name: N, event: EngineEvents[N]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as Listener<N>)(event)
      } catch (error) {
        if (name !== 'error')
          this.emit('error', { kind: 'record', error, during: `listener of ${name}` })
      }
    }
  }
}

export function settledOf(change: Change): Settled {
  const { job, attempt, skips } = change
  const firedFor = firedForOf(change)
  return firedFor === null ? { job, attempt, skips } : { job, attempt, skips, firedFor }
}

function firedForOf({ job, inserts, skips }: Change): Instant | null {
  const task = inserts[0]
  if (task?.seriesId !== job.id) return null
  const folded = skips.filter(({ reason }) => reason === 'coalesced').map(({ from }) => from)
  const { trigger } = task.spec
  return Math.min(...folded, trigger.kind === 'once' ? trigger.at : task.createdAt)
}

/** Tells of the outcomes and incidents that were stored with these changes. */
export function noteOutcomes(events: Events, changes: readonly Change[]): void {
  let keys: string[] | null = null
  let incidents = 0
  for (const { records } of changes) {
    for (const { kind, key } of records) {
      if (kind === TASK_OUTCOME_KIND) (keys ??= []).push(key)
      else if (kind === INCIDENT_KIND) incidents++
    }
  }
  if (keys !== null) events.emit('taskOutcomes', { keys })
  if (incidents > 0) events.emit('incidents', { count: incidents })
}
