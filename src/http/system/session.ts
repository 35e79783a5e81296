// Signing in from a browser: a one-time code or a token for a cookie, who am I, and out again.

import { z } from 'zod'
import { callerOf, unauthorized } from '../auth/access.ts'
import { isSameOrigin } from '../auth/origin.ts'
import { roles } from '../auth/principal.ts'
import { COOKIE_LENGTH_MAX, sessionCookie } from '../auth/session.ts'
import { HttpProblem } from '../app/problem.ts'
import type { AppParts, Request, Routes } from '../app/parts.ts'
import { basePathOf } from '../dashboard/base.ts'

export const principalSchema = z
  .strictObject({ sub: z.string(), tenant: z.string(), role: z.enum(roles), by: z.string() })
  .meta({ id: 'Session' })

const body = z.union(
  [
    z.strictObject({ code: z.string().min(1).max(200) }),
    z.strictObject({
      token: z.string().min(1).max(COOKIE_LENGTH_MAX, 'is too long to be kept in a cookie'),
    }),
  ],
  { error: 'must be {code} or {token}' },
)

export const sessionRoutes: Routes = (app, parts) => {
  const { auth } = parts
  const cookieFor = (request: Request, token: string, seconds: number) =>
    sessionCookie(token, seconds, {
      base: basePathOf(request, parts),
      isSecure: request.protocol === 'https',
    })
  app.route({
    method: 'POST',
    url: '/api/v1/session',
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'Exchange a one-time code or a token for a session cookie',
      body,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      if (!isSameOrigin(request.headers)) {
        throw new HttpProblem('forbidden', 'the request does not come from our own pages')
      }
      const token = await sessionToken(request.body, parts)
      if (token === null) throw unauthorized()
      const cookie = cookieFor(request, token, auth.sessionMs / 1_000)
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
      const cookie = cookieFor(request, '', 0)
      return reply.code(204).header('Set-Cookie', cookie).send()
    },
  })
}

/** A pasted token is the session itself: it ends when the token does. */
async function sessionToken(
  given: z.output<typeof body>,
  { auth, engine }: AppParts,
): Promise<string | null> {
  if ('token' in given) {
    const token = given.token.trim()
    return (await auth.isToken(token)) ? token : null
  }
  return auth.code.redeem(given.code, engine.clock.now()) ? auth.session() : null
}
