// Which sessions there are, and ending them and tokens before their time. For admins of every tenant.

import { z } from 'zod'
import { iso } from '../../../core/time.ts'
import { EVERY_TENANT, roles } from '../../auth/principal.ts'
import { notFound, refuseInvalid } from '../call/refusal.ts'
import { auditEntry } from '../call/client.ts'
import { cursorQuery } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'

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

export const listSessions = useCase({
  access: 'every-tenant',
  query: cursorQuery,
  result: listAnswer,
  handle: async call => {
    const { limit, cursor } = call.query
    const page = await call.auth.sessions({ limit, cursor: cursor ?? null })
    const sessions = page.items.map(({ createdAt, expireAt, tokenId, ...session }) => ({
      ...session,
      created_at: iso(createdAt),
      expires_at: iso(expireAt),
      token_id: tokenId,
    }))
    return { sessions, limit, next_cursor: page.cursor }
  },
})

export const revokeToken = useCase({
  access: 'every-tenant',
  body: revokeBody,
  result: revokeAnswer,
  handle: async call => {
    const given = call.body.token.trim()
    const audit = (object: string) => [
      auditEntry(call, { tenant: EVERY_TENANT, action: 'token.revoke', object }),
    ]
    if (/^[0-9a-f]{40}$/.test(given)) {
      const isEnded = await call.auth.endSession(given, () => audit(`session:${given}`))
      if (!isEnded) throw notFound('there is no such session')
      return { kind: 'session' as const, id: given }
    }
    const { id, until } = namedToken(given)
    await call.auth.revoke(id, until, audit(`token:${id}`))
    return { kind: 'token' as const, id }
  },
})

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
