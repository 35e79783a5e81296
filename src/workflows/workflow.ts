// What a workflow is: entries that take events in, steps that depend on each other.

import type { HttpSettings } from '../actions/http/settings.ts'
import type { Json } from '../core/json.ts'
import type { Instant } from '../core/time.ts'

export interface Workflow {
  readonly id: number
  readonly tenant: string
  readonly name: string
  /** An inactive one is not run: whoever asks for it fails. */
  readonly active: boolean
  readonly entries: readonly Entry[]
  readonly steps: readonly Step[]
  /** Grows with every change. */
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** Where an event comes in; the highest priority is asked first. */
export interface Entry {
  readonly id: string
  readonly kind: 'schedule'
  readonly priority: number
  readonly active: boolean
}

export type Step = StepBase &
  (
    | { readonly handler: string; readonly http?: never }
    | { readonly http: HttpSettings; readonly handler?: never }
  )

interface StepBase {
  readonly id: string
  /** Steps that must be over before it starts. */
  readonly needs: readonly string[]
  /** Absent: it gets the event's payload. */
  readonly input?: Json
}

/** What a person says about a workflow, with defaults filled in. */
export type WorkflowSpec = Pick<Workflow, 'name' | 'active' | 'entries' | 'steps'>

export const workflowLimits = {
  idMax: 2_147_483_647,
  entries: 20,
  steps: 100,
  /** The whole description as JSON. */
  bytes: 64 * 1024,
  depth: 32,
  priorityMin: -1_000,
  priorityMax: 1_000,
  entryIdLength: 200,
  /** Steps of one run that work at the same time. */
  stepsAtOnce: 8,
} as const
