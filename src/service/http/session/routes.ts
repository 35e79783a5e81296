// Signing in from a browser: a one-time code or a token for a session, who am I, and out again.

import { z } from 'zod'
import { auditWrite } from '../../../jobs/audit.ts'
import { callerOf, cookiePlaceOf, failureLimit } from '../guard/access.ts'
import type { Credential } from '../../auth/authenticator.ts'
import { isSameOrigin } from '../../auth/origin.ts'
import { actorOf, EVERY_TENANT, roles } from '../../auth/principal.ts'
import { auditRefusal } from '../guard/refusals.ts'
import { sessionCookie } from '../../auth/session.ts'
import type { Session, SessionWrites } from '../../auth/sessions.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { unauthorized } from '../../use-cases/call/refusal.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'

const TOKEN_LENGTH_MAX = 8 * 1024

export const principalSchema = z
  .strictObject({ sub: z.string(), tenant: z.string(), role: z.enum(roles), by: z.string() })
  .meta({ id: 'Session' })

const body = z.union(
  [
    z.strictObject({ code: z.string().min(1).max(200) }),
    z.strictObject({ token: z.string().min(1).max(TOKEN_LENGTH_MAX) }),
  ],
  { error: 'must be {code} or {token}' },
)

const url = '/api/v1/session'

export const sessionRoutes: Routes = (app, parts) => {
  signInRoute(app, parts)
  app.route({
    method: 'GET',
    url,
    config: { access: 'viewer' },
    schema: { tags: ['system'], summary: 'Who is asking', response: { 200: principalSchema } },
    handler: async request => {
      const { sub, tenant, role, by } = callerOf(request)
      return { sub, tenant, role, by }
    },
  })
  app.route({
    method: 'DELETE',
    url,
    config: { access: 'viewer' },
    schema: {
      tags: ['system'],
      summary: 'End the session on every node at once',
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const { sessionId } = callerOf(request)
      if (sessionId !== undefined) {
        await parts.auth.endSession(sessionId, auditOf(request, parts, 'session.end'))
      }
      const cookie = sessionCookie('', 0, cookiePlaceOf(request, parts))
      return reply.code(204).header('Set-Cookie', cookie).send()
    },
  })
}

function signInRoute(app: App, parts: AppParts): void {
  const countFailure = failureLimit(app, parts, 'sign-ins')
  app.route({
    method: 'POST',
    url,
    config: { access: 'open' },
    schema: {
      tags: ['system'],
      summary: 'Exchange a one-time code or a token for a session of up to 12 hours',
      body,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      if (!isSameOrigin(request.headers)) {
        throw new HttpProblem('forbidden', 'the request does not come from our own pages')
      }
      const signedIn = await parts.auth.signIn({
        credential: trimmed(request.body),
        ip: request.ip,
        also: auditOf(request, parts, 'session.create'),
      })
      if (signedIn === null) {
        await countFailure(request)
        const action = 'session.refused'
        await auditRefusal(request, parts, { tenant: EVERY_TENANT, action, sub: '' })
        throw unauthorized()
      }
      const { secret, session } = signedIn
      const seconds = Math.floor((session.expireAt - session.createdAt) / 1_000)
      const cookie = sessionCookie(secret, seconds, cookiePlaceOf(request, parts))
      return reply.code(204).header('Set-Cookie', cookie).send()
    },
  })
}

function trimmed(given: Credential): Credential {
  return 'token' in given ? { token: given.token.trim() } : given
}

/** In the book of the tenant whose session it is, in the name of whoever it belongs to. */
function auditOf(request: Request, { engine }: AppParts, action: string): SessionWrites {
  return ({ id, sub, tenant, role }: Session) => {
    const { ids, clock } = engine
    const actor = actorOf({ sub, tenant, role, by: 'session' }, request.ip, request.id)
    const object = `session:${id}`
    return [auditWrite({ actor, tenant, action, object, result: 'done' }, ids, clock.now())]
  }
}
