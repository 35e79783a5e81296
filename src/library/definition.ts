// A job as code declares it: a name, when, what, and the choices about it.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isActionName, RESERVED_RULE } from '../core/spec/action-name.ts'
import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import type { Jsonify } from '../core/json/jsonify.ts'
import { limits } from '../core/limits.ts'
import { checkOptions } from '../core/spec/option-check.ts'
import { jobChecks } from './option-checks.ts'
import type { JobOptions, ScheduledPayload, Schema } from './options.ts'
import { tryAlone, type Trial, type TrialOptions } from './trial.ts'

export interface JobDefinition<N extends string = string, S extends Schema = Schema, R = unknown> {
  readonly name: N
  readonly options: JobOptions<S, R>
  /** Runs the handler alone: no store, no clock, no schedule. */
  test(input: StandardSchemaV1.InferInput<S>, options?: TrialOptions): Promise<Trial<Jsonify<R>>>
}

/** What `run` of a job without an input schema gets. */
export type NoInput = StandardSchemaV1<void, void>

export function job<const N extends string, S extends Schema = NoInput, R = void>(
  name: N,
  options: JobOptions<S, R> & ScheduledPayload<StandardSchemaV1.InferInput<S>>,
): JobDefinition<N, S, R> {
  const found = new Findings()
  found.text('name', name, limits.nameLength)
  if (typeof name === 'string' && isActionName(name)) found.add('name', name, RESERVED_RULE)
  checkOptions(found, options, jobChecks, { required: ['run'] })
  refuse('SPEC_INVALID', `job ${JSON.stringify(name)} is not valid`, found.problems)
  return {
    name,
    options,
    test: (input, trial) => tryAlone({ name, options }, input, trial),
  }
}
