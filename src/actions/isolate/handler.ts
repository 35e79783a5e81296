// A handler of a node whose code runs apart: what the engine gives a handler, as plain values.

import type { Json } from '../../core/json.ts'
import type { Context } from '../../engine/context.ts'
import type { Handler } from '../../engine/handlers.ts'
import { runIsolated, type IsolationOptions } from './isolate.ts'
import type { HandlerPlace } from './messages.ts'

/** Called with the context alone, as handlers of a node are. */
export function isolatedHandler(
  where: Pick<HandlerPlace, 'module' | 'path'>,
  options: IsolationOptions,
): Handler {
  const place: HandlerPlace = { ...where, takes: 'context' }
  return context => {
    const { payload } = context
    const link = {
      signal: context.signal,
      log: context.log,
      progress: context.progress,
      measure: context.measure,
      heartbeat: context.heartbeat,
    }
    const call = { place, payload, context: membersOf(context), upcoming: null, link }
    return runIsolated(call, options)
  }
}

function membersOf(context: Context) {
  const { runId, idempotencyKey, attemptId, run, attempt, fence, origin, checkpoint } = context
  const { scheduledFor, startedAt, lateMs, missed } = context
  return {
    // Stores may hand out rows whose parts are read when they are asked for.
    job: JSON.parse(JSON.stringify(context.job)) as Json,
    runId,
    idempotencyKey,
    attemptId,
    run,
    attempt,
    fence,
    origin,
    scheduledFor,
    startedAt,
    lateMs,
    missed,
    checkpoint,
  }
}
