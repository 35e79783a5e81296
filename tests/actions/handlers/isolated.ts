// Handlers for the isolation tests: one that behaves, and every way not to.

import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { Json } from '../../../src/core/json.ts'
import { EndJob, NoRetry, RetryAfter, Skip } from '../../../src/core/run/outcome.ts'
import type { Context } from '../../../src/engine/context.ts'

export default async function good(context: Context): Promise<Json> {
  const { payload: input } = context
  context.log.info('working', { input })
  context.progress(0.5, 'half way')
  context.measure('items', 3)
  await context.heartbeat({ at: 1 })
  let sum = 0
  for (let i = 0; i < 30_000_000; i++) sum += Math.sqrt(i)
  return { input, run: context.runId, attempt: context.attempt, isNumber: sum > 0 }
}

export function resumes(context: Context): Promise<Json> {
  if (context.attempt > 1) return Promise.resolve({ from: context.checkpoint ?? null })
  return context.heartbeat({ page: 7 }).then(() => {
    throw new Error('not yet')
  })
}

export function blocks(): never {
  console.log('blocking')
  for (;;);
}

export async function listens({ signal, log }: Context): Promise<void> {
  log.info('listening')
  await sleep(600_000, undefined, { signal }).catch(() => {})
  log.info(`told: ${(signal.reason as { reason: string }).reason}`)
}

export function leaks(): number {
  const held: unknown[] = []
  for (;;) held.push(Array.from({ length: 100_000 }, (_, i) => ({ i })))
}

export function exits(): void {
  process.exit(7)
}

export function crashes(): Promise<never> {
  setImmediate(() => {
    throw new Error('far away')
  })
  return new Promise(() => {})
}

export function throws({ payload: kind }: Context): never {
  if (kind === 'NoRetry') throw new NoRetry('never')
  if (kind === 'EndJob') throw new EndJob('gone')
  if (kind === 'RetryAfter') throw new RetryAfter(90_000, 'later')
  if (kind === 'Skip') throw new Skip('nothing to do')
  throw new TypeError('plain')
}

export function circular(): unknown {
  const value: Record<string, unknown> = {}
  value.self = value
  return value
}

/** Leaves a timer behind that would keep a process alive for good. */
export function lingers(): number {
  setInterval(() => {}, 1_000)
  return process.pid
}

/** Holds memory that is not on the heap of V8. */
export function holdsBuffers(): never {
  const held: Buffer[] = []
  for (;;) held.push(Buffer.alloc(4 * 1_048_576, 1))
}

export function chatters({ log }: Context): never {
  for (let n = 1; n <= 50_000; n++) log.info(`line ${n}`, { n })
  throw new Error('too much')
}

export function prints(): string {
  console.log('the last words')
  return 'done'
}

/** As code does that was written for a supervisor or a pool of its own. */
export function speaksUp(): string {
  for (const said of ['ready', null, 5, { kind: 'log' }, { kind: 'done' }, { carillon: null }]) {
    process.send?.(said)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(said)
  }
  return 'done'
}
