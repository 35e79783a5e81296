// What is kept of a workflow's run: its steps in the attempt's detail, and the checkpoint from
// which the next attempt goes on.

import type { Attempt } from '../core/attempt.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { currentRunOf } from '../core/run/current-run.ts'
import type { Instant } from '../core/time.ts'
import type { Context } from '../engine/context.ts'
import type { Progress } from '../store/port.ts'
import type { Entry, Workflow } from './workflow.ts'

export type StepStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped'

export interface StepDetail {
  readonly id: string
  readonly status: StepStatus
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  /** The attempt of the run that did it; a resumed run keeps steps of earlier ones. */
  readonly attempt: number | null
  readonly error: string | null
}

export interface RunDetail {
  readonly workflow: number
  readonly name: string
  readonly revision: number
  /** The entry that took the event in. */
  readonly entry: string
  readonly steps: readonly StepDetail[]
}

/** One step as a run knows it. */
export interface StepState extends StepDetail {
  readonly output: Json
  /** What the step itself left for its next try. */
  readonly checkpoint: Json | undefined
  readonly fraction: number
}

/** The name under which an attempt's measures hold its steps. */
export const DETAIL = 'workflow'
/** The one under which they hold the number of the repeat, from 0. */
export const REPEAT = 'repeat_number'

export function detailOf(
  workflow: Workflow,
  entry: Entry,
  states: readonly StepState[],
): JsonObject {
  const { id, name, revision } = workflow
  return { workflow: id, name, revision, entry: entry.id, steps: states.map(plain) }
}

function plain(state: StepState): JsonObject {
  const { id, status, startedAt, finishedAt, attempt, error } = state
  return { id, status, startedAt, finishedAt, attempt, error }
}

/** The steps of a settled attempt; null when it ran no workflow, or nobody lived to tell. */
export function stepsOfAttempt({ measures }: Pick<Attempt, 'measures'>): RunDetail | null {
  const detail = measures?.[DETAIL]
  return isObject(detail) ? (detail as unknown as RunDetail) : null
}

/** The steps of a run that is under way, as of its last checkpoint. */
export function stepsOfProgress(progress: Progress | null): RunDetail | null {
  const saved = progress?.checkpoint
  return isObject(saved) && isObject(saved.detail) ? (saved.detail as unknown as RunDetail) : null
}

/**
 * The same for all attempts that go on from each other. A failure makes it another: a retry starts
 * from the first step. A crash, a stop or a deferral leaves it as it is.
 */
export function seriesOf(context: Context): string {
  const { run } = currentRunOf(context.job)
  return [run.run, run.failures, run.failingSince ?? ''].join('/')
}

export interface Saved {
  /** The moment of the event: a resumed run sees the same one. */
  readonly at: Instant
  readonly steps: ReadonlyMap<string, StepState>
}

export function checkpointOf(
  series: string,
  at: Instant,
  detail: JsonObject,
  states: readonly StepState[],
): JsonObject {
  const kept = states.flatMap(({ id, status, output, checkpoint }): JsonObject[] => {
    if (isOver(status)) return [{ id, output }]
    return checkpoint === undefined ? [] : [{ id, checkpoint }]
  })
  return { series, at, detail, kept }
}

export function isOver(status: StepStatus): boolean {
  return status === 'completed' || status === 'skipped'
}

/** Null when there is nothing to go on from: another series, or the workflow was changed since. */
export function savedIn(given: Json | undefined, series: string, workflow: Workflow): Saved | null {
  if (!isObject(given) || given.series !== series || !Array.isArray(given.kept)) return null
  const detail = isObject(given.detail) ? (given.detail as unknown as RunDetail) : null
  if (detail?.workflow !== workflow.id || detail.revision !== workflow.revision) return null
  const list = given.kept as readonly (JsonObject & { readonly id: string })[]
  const kept = new Map(list.map(one => [one.id, one]))
  const states = detail.steps.flatMap(step => {
    const one = kept.get(step.id)
    if (!one) return []
    const state = isOver(step.status) ? step : waiting(step.id)
    return [[step.id, { ...state, ...leftBy(one) }] as const]
  })
  return { at: Number(given.at), steps: new Map(states) }
}

function leftBy({ output, checkpoint }: JsonObject) {
  return { output: output ?? null, checkpoint, fraction: 0 }
}

/** A step that has not started. */
export function waiting(id: string): StepState {
  return {
    id,
    status: 'queued',
    startedAt: null,
    finishedAt: null,
    attempt: null,
    error: null,
    output: null,
    checkpoint: undefined,
    fraction: 0,
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
