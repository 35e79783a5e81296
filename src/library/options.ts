// What a caller says about a job in code.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { RunContext } from './context.ts'
import type { Policies } from './policies.ts'
import type { When } from './when.ts'

export type Schema = StandardSchemaV1

/** What a job and each schedule made of it while running may say about their rows. */
export interface RowPolicies extends Policies {
  readonly title?: string
  readonly description?: string
  readonly tags?: readonly string[]
}

export interface ScheduleEntry<I> {
  /** Tells the schedules of one job apart; never changes its meaning. */
  readonly key: string
  readonly when: When
  readonly payload?: I
  readonly tenant?: string
  readonly user?: string
}

export interface JobOptions<S extends Schema, R> extends RowPolicies {
  readonly input?: S
  /** Turns payloads stored by older code into what `input` accepts now. */
  readonly upgrade?: (stored: unknown) => StandardSchemaV1.InferInput<S>
  /** Absent: runs only when asked, and is listed all the same. */
  readonly schedule?:
    | When
    | readonly When[]
    | readonly ScheduleEntry<StandardSchemaV1.InferInput<S>>[]
  /** What scheduled runs receive. */
  readonly payload?: StandardSchemaV1.InferInput<S>
  readonly run: (input: StandardSchemaV1.InferOutput<S>, context: RunContext) => R | Promise<R>
}

/** A schedule needs a payload wherever the schema does not accept that there is none. */
export type ScheduledPayload<I> = undefined extends I
  ? unknown
  :
      | { readonly schedule?: undefined }
      | { readonly payload: I }
      | { readonly schedule: readonly (ScheduleEntry<I> & { readonly payload: I })[] }

/** Any definition, for code that does not care about its types. */
export interface AnyDefinition {
  readonly name: string
  readonly options: Omit<JobOptions<Schema, unknown>, 'run' | 'upgrade'> & {
    readonly run: (input: never, context: RunContext) => unknown
    readonly upgrade?: (stored: unknown) => unknown
  }
}
