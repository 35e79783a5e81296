// Jobs of the demo in the present: they take their time, log, make progress, fail now and then, and
// reach nothing outside this process. Jobs that are not of the demo are left to what they were.

import type { Json } from '../core/json.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Context } from '../engine/context.ts'
import type { Engine } from '../create-engine.ts'
import type { Handler } from '../engine/handlers.ts'
import { demoHandlers } from './catalog.ts'
import { planOf, temperOf, type Plan, type Temper } from './temper.ts'

/** Actions that would call others. */
const outbound = ['action:crawl', 'action:source', 'action:http'] as const
const PIECES = 20

export function playDemo({ handlers, clock }: Engine): void {
  const play: Handler = context => perform(context, clock)
  for (const name of demoHandlers) handlers.set(name, play)
  for (const name of outbound) {
    const own = handlers.get(name)
    handlers.set(name, context => {
      if (temperOf(context.job.spec) !== null) return play(context)
      if (own === undefined) throw new Error(`this node has no ${name}`)
      return own(context)
    })
  }
}

/** For steps of workflows, which have no job of their own. */
const stepTemper: Temper = {
  takesMs: [400, 4_000],
  fails: 0.01,
  unit: 'rows',
  most: 4_000,
  says: ['started', '# rows'],
}

async function perform(context: Context, clock: Clock): Promise<Json> {
  const temper = temperOf(context.job.spec) ?? stepTemper
  const plan = planOf(temper, context.attemptId + context.runId, clock.now())
  const said = [...plan.lines]
  for (let piece = 0; piece <= PIECES; piece++) {
    const atMs = (plan.tookMs * piece) / PIECES
    while (said[0] !== undefined && said[0].afterMs <= atMs) tell(context, said.shift()!)
    if (piece < PIECES) context.progress(piece / PIECES, noteOf(plan, piece))
    await nap(clock, plan.tookMs / PIECES, context.signal)
  }
  for (const [name, value] of Object.entries(plan.measures)) context.measure(name, value)
  if (plan.error !== null) throw new Error(plan.error)
  return plan.result
}

function tell(context: Context, { level, message }: Plan['lines'][number]): void {
  context.log[level](message)
}

function noteOf({ result }: Plan, piece: number): string | null {
  const [unit, count] = Object.entries(result)[0] ?? []
  return typeof count === 'number' ? `${Math.round((count * piece) / PIECES)} ${unit}` : null
}

function nap(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      stop()
      reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
    }
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', aborted)
      resolve()
    })
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}
