// Which sessions there are, and ending them and tokens before their time. For admins of every tenant.

import { z } from 'zod'
import { limits } from '../../core/limits.ts'
import { iso } from '../../core/time.ts'
import { auditWrite } from '../../jobs/audit.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf, EVERY_TENANT, roles } from '../auth/principal.ts'
import type { App, AppParts, Routes } from '../app/parts.ts'
import { notFound, refuseInvalid } from '../app/refusal.ts'

const TOKEN_LENGTH_MAX = 8 * 1024
const NAME_LENGTH_MAX = 400

const sessionSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Names the session; nobody gets in with it.' }),
    sub: z.string(),
    tenant: z.string(),
    role: z.enum(roles),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    ip: z.string().nullable(),
    token_id: z.string().nullable().meta({ description: 'The jti of the token it was made from.' }),
  })
  .meta({ id: 'BrowserSession', description: 'Someone who is signed in.' })

const query = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  cursor: z
    .string()
    .regex(/^[\x21-\x7e]{1,400}$/, 'must be a next_cursor')
    .optional(),
})

const listAnswer = z
  .strictObject({
    sessions: z.array(sessionSchema),
    limit: z.int(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'SessionList' })

const revokeBody = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(TOKEN_LENGTH_MAX)
      .meta({ description: 'A token, its jti, or the id of a session.' }),
  })
  .meta({ id: 'RevokeBody' })

const revokeAnswer = z
  .strictObject({ kind: z.enum(['token', 'session']), id: z.string() })
  .meta({ id: 'Revoked' })

const tags = ['system']

export const tokenRoutes: Routes = (app, parts) => {
  listRoute(app, parts)
  revokeRoute(app, parts)
}

function listRoute(app: App, { auth }: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/sessions',
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Who is signed in (admins of every tenant)',
      querystring: query,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const { limit, cursor } = request.query
      const page = await auth.sessions({ limit, cursor: cursor ?? null })
      const sessions = page.items.map(({ createdAt, expireAt, tokenId, ...session }) => ({
        ...session,
        created_at: iso(createdAt),
        expires_at: iso(expireAt),
        token_id: tokenId,
      }))
      return { sessions, limit, next_cursor: page.cursor }
    },
  })
}

function revokeRoute(app: App, parts: AppParts): void {
  const { auth, engine } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/tokens/revoke',
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Revoke a token or end a session (admins of every tenant)',
      body: revokeBody,
      response: { 200: revokeAnswer },
    },
    handler: async request => {
      const given = request.body.token.trim()
      const audit = (object: string) => {
        const actor = actorOf(callerOf(request), request.ip, request.id)
        const entry = {
          actor,
          tenant: EVERY_TENANT,
          action: 'token.revoke',
          object,
          result: 'done',
        }
        return [auditWrite(entry, engine.ids, engine.clock.now())]
      }
      if (/^[0-9a-f]{40}$/.test(given)) {
        const isEnded = await auth.endSession(given, () => audit(`session:${given}`))
        if (!isEnded) throw notFound('there is no such session')
        return { kind: 'session' as const, id: given }
      }
      const { id, until } = namedToken(given)
      await auth.revoke(id, until, audit(`token:${id}`))
      return { kind: 'token' as const, id }
    },
  })
}

/** Its signature does not matter: revoking what nobody accepts changes nothing. */
function namedToken(given: string): { readonly id: string; readonly until: number | null } {
  const isToken = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(given)
  const claims = isToken ? claimsOf(given) : null
  const id = isToken ? claims?.['jti'] : given
  const rule = 'must be a token with a jti, a jti, or the id of a session'
  const isName = typeof id === 'string' && /^[^\p{Cc}]+$/u.test(id) && id.length <= NAME_LENGTH_MAX
  refuseInvalid('native', isName ? [] : [{ field: 'token', value: '***', rule }])
  const exp = claims?.['exp']
  // A minute more: clocks of two machines may differ by so much.
  return { id: id as string, until: typeof exp === 'number' ? (exp + 120) * 1_000 : null }
}

function claimsOf(token: string): Readonly<Record<string, unknown>> | null {
  try {
    const [, payload] = token.split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload!, 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null ? { ...claims } : null
  } catch {
    return null
  }
}
