// A handler tried alone, for unit tests: what it returned, threw, logged and reported.

import type { Outcome } from '../core/attempt.ts'
import type { Json } from '../core/json.ts'
import { createJob } from '../core/create.ts'
import { mayRetry, retryDelayMs } from '../core/run/retry.ts'
import type { JobSpec } from '../core/spec.ts'
import { jsonPayload } from '../core/history/payload.ts'
import { systemClock } from '../runtime/clock.ts'
import { Context } from '../engine/context.ts'
import { activeAttempt } from '../engine/active-attempt.ts'
import { outcomeOfReturned, outcomeOfThrown } from '../core/run/outcome.ts'
import { runContext } from './context.ts'
import { invoke } from './invoke.ts'
import type { AnyDefinition } from './options.ts'
import { rowSpec } from './rows.ts'

export interface TrialOptions {
  /** Which try of the run this is; the first unless said. */
  readonly attempt?: number
  readonly scheduledFor?: Date
  readonly signal?: AbortSignal
  readonly checkpoint?: Json
}

export interface Trial<R> {
  readonly status: 'completed' | 'failed' | 'skipped' | 'deferred'
  /** What it returned, as JSON. */
  readonly result?: R
  /** Why the result would not be kept. */
  readonly resultOmitted?: string
  readonly error?: unknown
  /** When it would be tried again; absent when it would not. */
  readonly retryInMs?: number
  readonly logs: readonly string[]
  readonly progress: number
}

export async function tryAlone<R>(
  definition: AnyDefinition,
  input: unknown,
  options: TrialOptions = {},
): Promise<Trial<R>> {
  const now = systemClock.now()
  const spec = rowSpec(definition, {}, { when: null })
  const attempt = options.attempt ?? 1
  const logs: string[] = []
  const held = trialHeld(spec, input, { now, attempt, options })
  let progress = 0
  const context = new Context(held, {
    now: () => systemClock.now(),
    beat: async () => !held.controller?.signal.aborted,
    logged: (_, line) => logs.push(line.message),
    progressed: () => {
      progress = held.pending?.progress?.fraction ?? progress
    },
  })
  options.signal?.addEventListener('abort', () => held.controller?.abort(options.signal!.reason))
  try {
    const stored = jsonPayload(input, definition.name)
    const returned = await invoke(definition, stored, runContext(context))
    const outcome = outcomeOfReturned(returned, null)
    if (outcome.kind === 'succeeded') {
      const { result, resultOmitted } = outcome
      if (resultOmitted !== undefined) return { status: 'completed', resultOmitted, logs, progress }
      return { status: 'completed', result: result as R, logs, progress }
    }
    return { ...failed(outcome, spec, attempt), logs, progress }
  } catch (error) {
    return { ...failed(outcomeOfThrown(error), spec, attempt), error, logs, progress }
  }
}

interface TrialFacts {
  readonly now: number
  readonly attempt: number
  readonly options: TrialOptions
}

function trialHeld(spec: JobSpec, input: unknown, { now, attempt, options }: TrialFacts) {
  const job = createJob({ id: 'trial', spec }, now)
  const lease = { token: 'trial', owner: 'trial', attemptId: 'trial', claimedAt: now, until: now }
  const run = {
    run: 1,
    attempt: attempt - 1,
    failures: attempt - 1,
    failingSince: null,
    retryOf: null,
  }
  const held = activeAttempt(
    { ...job, state: 'running', lease },
    {
      origin: 'manual',
      run,
      occurrence: options.scheduledFor?.getTime() ?? now,
      payload: input as Json,
      missed: 0,
      request: null,
    },
  )
  held.controller = new AbortController()
  held.checkpoint = options.checkpoint
  return held
}

function failed(outcome: Outcome, spec: JobSpec, attempt: number) {
  switch (outcome.kind) {
    case 'skipped':
      return { status: 'skipped' as const }
    case 'deferred':
      return { status: 'deferred' as const }
    case 'failed': {
      const run = { run: 1, attempt, failures: attempt, failingSince: null, retryOf: null }
      const mayTry = !outcome.final && mayRetry(run, spec.retry.limit)
      if (!mayTry) return { status: 'failed' as const, error: outcome.error }
      const retryInMs = outcome.retryAfterMs ?? retryDelayMs(spec, attempt, 'trial')
      return { status: 'failed' as const, error: outcome.error, retryInMs }
    }
    default:
      return { status: 'failed' as const }
  }
}
