// Whether the process lives, whether it is of use, what it counted, which version it is.

import { z } from 'zod'
import { problemOf } from '../app/refusal.ts'
import type { AppParts, Routes } from '../app/parts.ts'
import { iso } from '../../core/time.ts'

export const readySchema = z.strictObject({
  status: z.enum(['ready', 'not ready']),
  state: z.string(),
  last_tick_at: z.string().nullable(),
  store: z.string(),
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
      summary: 'Counters in the Prometheus text format',
      response: {
        200: { description: 'Text 0.0.4.', content: { 'text/plain': { schema: z.string() } } },
      },
    },
    handler: async (_request, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(parts.metricsText()),
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

async function readiness({ engine, settings }: AppParts): Promise<z.output<typeof readySchema>> {
  const { node, store, clock } = engine
  const { lastTickAt, state } = node
  const answer = await store.now().then(
    () => 'reachable',
    (error: unknown) => problemOf(error, 'native').message,
  )
  const isTicking = lastTickAt !== null && clock.now() - lastTickAt <= settings.readyAfterMs
  // A process that runs no jobs is of use as long as the store answers.
  const isIdle = state === 'stopped' && lastTickAt === null
  const isTurning = isIdle || (state === 'running' && isTicking)
  return {
    status: answer === 'reachable' && isTurning ? 'ready' : 'not ready',
    state,
    last_tick_at: lastTickAt === null ? null : iso(lastTickAt),
    store: answer,
  }
}
