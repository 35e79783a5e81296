// A job's handler that lives in a module of its own and runs apart from the program: in a process or
// a thread.

import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import {
  checkIsolation,
  isModule,
  isolationOf,
  moduleUrl,
  type IsolateOptions,
} from '../actions/isolate/options.ts'
import { countedLog } from '../engine/context.ts'
import type { RunContext } from './context.ts'

/** What a module may export for `isolated`. */
export type ModuleHandler = (input: never, context: RunContext) => unknown

/** How many firings `job.next(n)` knows of in a handler that runs apart. */
const UPCOMING = 25

type InputOf<F extends ModuleHandler> = Parameters<F>[0]

/**
 * A function for `run` that calls the module's export in a process or thread of its own, once per
 * attempt. The job's `timeout` ends it whatever it is doing.
 */
export function isolated<F extends ModuleHandler = (input: unknown) => unknown>(
  module: URL | string,
  options: IsolateOptions = {},
): (input: InputOf<F>, context: RunContext) => Promise<Awaited<ReturnType<F>>> {
  const found = new Findings()
  isModule(found, 'module', module)
  checkIsolation(found, options)
  refuse('SPEC_INVALID', 'isolated() is not valid', found.problems)
  const place = {
    module: moduleUrl(module),
    path: [options.export ?? 'default'],
    takes: 'payload',
  } as const
  const isolation = isolationOf(options)
  const run = async (input: unknown, context: RunContext): Promise<unknown> => {
    // Only programs that isolate something load what it takes.
    const { runIsolated } = await import('../actions/isolate/isolate.ts')
    const { job, run: facts, last, checkpoint, idempotencyKey, fence } = context
    const { id, name, key, tz, tenant, metadata } = job
    const ofJob = { id, name, key, tz, tenant, metadata }
    const members = { job: ofJob, run: facts, last, checkpoint, idempotencyKey, fence }
    const call = { place, payload: input, context: members, upcoming: job.next(UPCOMING) }
    const { signal, log, progress, measure, heartbeat } = context
    const link = { signal, log: countedLog(log), progress, measure, heartbeat }
    return runIsolated({ ...call, link }, isolation)
  }
  return run as (input: InputOf<F>, context: RunContext) => Promise<Awaited<ReturnType<F>>>
}
