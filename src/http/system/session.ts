// Signing in from a browser: a one-time code for a cookie, who am I, and out again.

import { z } from 'zod'
import { callerOf, unauthorized } from '../auth/access.ts'
import { isSameOrigin } from '../auth/origin.ts'
import { roles } from '../auth/principal.ts'
import { sessionCookie } from '../auth/session.ts'
import { HttpProblem } from '../app/problem.ts'
import type { Routes } from '../app/parts.ts'

export const principalSchema = z
  .strictObject({ sub: z.string(), tenant: z.string(), role: z.enum(roles), by: z.string() })
  .meta({ id: 'Session' })

export const sessionRoutes: Routes = (app, { auth, engine }) => {
  app.route({
    method: 'POST',
    url: '/api/v1/session',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'Exchange a one-time code for a session cookie',
      body: z.strictObject({ code: z.string().min(1).max(200) }),
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      if (!isSameOrigin(request.headers)) {
        throw new HttpProblem('forbidden', 'the request does not come from our own pages')
      }
      const isRight = auth.code.redeem(request.body.code, engine.clock.now())
      const token = isRight ? await auth.session() : null
      if (token === null) throw unauthorized()
      const cookie = sessionCookie(token, auth.sessionMs / 1_000, request.protocol === 'https')
      return reply.code(204).header('Set-Cookie', cookie).send()
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/session',
    config: { access: 'viewer' },
    schema: { tags: ['system'], summary: 'Who is asking', response: { 200: principalSchema } },
    handler: async request => {
      const { sub, tenant, role, by } = callerOf(request)
      return { sub, tenant, role, by }
    },
  })
  app.route({
    method: 'DELETE',
    url: '/api/v1/session',
    config: { access: 'viewer' },
    schema: { tags: ['system'], summary: 'End the session', response: { 204: z.undefined() } },
    handler: async (request, reply) => {
      const cookie = sessionCookie('', 0, request.protocol === 'https')
      return reply.code(204).header('Set-Cookie', cookie).send()
    },
  })
}
