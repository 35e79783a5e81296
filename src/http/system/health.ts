// Whether the process lives, whether it is of use, what it counted, which version it is.

import { z } from 'zod'
import { problemOf } from '../app/refusal.ts'
import type { AppParts, Routes } from '../app/parts.ts'
import { iso, SECOND, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'

export const readySchema = z.strictObject({
  status: z.enum(['ready', 'not ready']),
  state: z.string(),
  last_tick_at: z.string().nullable(),
  store: z.string(),
  reasons: z
    .array(z.strictObject({ code: z.string(), message: z.string(), since: z.string() }))
    .meta({ description: 'What keeps due work from starting on this node.' }),
})

export const healthRoutes: Routes = (app, parts) => {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'The process lives',
      response: { 200: z.strictObject({ status: z.literal('ok') }) },
    },
    handler: async () => ({ status: 'ok' as const }),
  })
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'The store answers and the loop turns',
      response: { 200: readySchema, 503: readySchema },
    },
    handler: async (_request, reply) => {
      const found = await readiness(parts)
      return reply.code(found.status === 'ready' ? 200 : 503).send(found)
    },
  })
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: 'metrics' },
    schema: {
      tags: ['system'],
      summary: 'The node and its queues in the Prometheus text format',
      response: {
        200: { description: 'Text 0.0.4.', content: { 'text/plain': { schema: z.string() } } },
      },
    },
    handler: async (_request, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(await parts.metricsText()),
  })
  app.route({
    method: 'GET',
    url: '/version',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'The version of the service',
      response: { 200: z.strictObject({ name: z.string(), version: z.string() }) },
    },
    handler: async () => ({ name: 'carillon', version: parts.version }),
  })
}

/** Probes give up after a few seconds: the answer must not take as long as a stalled store. */
const ANSWER_MS: Millis = 2 * SECOND

/** `reachable`, or why the store is not. */
export function askStore(
  store: Pick<Engine['store'], 'now'>,
  clock: Pick<Engine['clock'], 'after'>,
): Promise<string> {
  const answer = store.now().then(
    () => 'reachable',
    (error: unknown) => problemOf(error, 'native').message,
  )
  return inTime(answer, clock).then(text => text ?? 'the store did not answer within 2 s')
}

/** Null when it fails, or takes longer than a probe waits. */
export function inTime<T>(
  answer: Promise<T>,
  clock: Pick<Engine['clock'], 'after'>,
): Promise<T | null> {
  return new Promise(resolve => {
    const cancel = clock.after(ANSWER_MS, () => resolve(null))
    const settle = (value: T | null) => {
      cancel()
      resolve(value)
    }
    answer.then(settle, () => settle(null))
  })
}

async function readiness({ engine, settings }: AppParts): Promise<z.output<typeof readySchema>> {
  const { node, store, clock, troubles } = engine
  const { lastTickAt, state } = node
  const answer = await askStore(store, clock)
  const isTicking = lastTickAt !== null && clock.now() - lastTickAt <= settings.readyAfterMs
  // A process that runs no jobs is of use as long as the store answers.
  const isIdle = state === 'stopped' && lastTickAt === null
  const isTurning = isIdle || (state === 'running' && isTicking)
  const isWell = answer === 'reachable' && isTurning && !troubles.isBlocked
  return {
    status: isWell ? 'ready' : 'not ready',
    state,
    last_tick_at: lastTickAt === null ? null : iso(lastTickAt),
    store: answer,
    reasons: troubles.list
      .filter(({ isBlocking }) => isBlocking)
      .map(({ code, message, since }) => ({ code, message, since: iso(since) })),
  }
}
