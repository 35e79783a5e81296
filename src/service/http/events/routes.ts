// `/api/v1/events`: what happens, as it happens, as a stream that can be taken up again.

import { z } from 'zod'
import { eventQuery, hubs, subscribe } from '../../use-cases/events/subscribe.ts'
import type { Routes } from '../app/parts.ts'
import { callOf } from '../app/resource.ts'

export const eventRoutes: Routes = (app, parts) => {
  app.addHook('preClose', async () => hubs.drop(parts.engine)?.close())
  app.route({
    method: 'GET',
    url: '/api/v1/events',
    config: { access: 'viewer' },
    schema: {
      tags: ['events'],
      summary: 'What happens, as server-sent events; Last-Event-ID takes it up again',
      querystring: eventQuery,
      response: {
        200: {
          description: 'Events named run.*, job.*, counts, hello, resync and end.',
          content: { 'text/event-stream': { schema: z.unknown() } },
        },
      },
    },
    handler: async (request, reply) => {
      const call = callOf(request, parts)
      const lastId = request.headers['last-event-id']
      const given = typeof lastId === 'string' && lastId !== '' ? lastId : null
      const { stream } = await subscribe(call, request.query, given)
      call.connection.leaveShare()
      return reply
        .header('Content-Type', 'text/event-stream; charset=utf-8')
        .header('Cache-Control', 'no-cache, no-transform')
        .header('X-Accel-Buffering', 'no')
        .send(stream)
    },
  })
}
