// Every route says who may use it; this hook holds it to that before anything else is read.

import type { onRequestAsyncHookHandler, RouteOptions } from 'fastify'
import type { App, AppParts, Request } from '../app/parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { unauthorized, type Family } from '../../use-cases/call/refusal.ts'
import { basePathOf } from '../dashboard/base.ts'
import type { CookiePlace } from '../../auth/session.ts'
import { noticeForwarding } from './forwarding.ts'
import { isLoopback, isOfThisMachine, isSafe, isSameOrigin } from '../../auth/origin.ts'
import { EVERY_TENANT, mayAct, type Access, type Principal } from '../../auth/principal.ts'
import { auditRefusal } from './refusals.ts'
import { shareRequests } from './request-shares.ts'

const TOKEN_LENGTH_MAX = 8 * 1024

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    family?: Family
  }
  interface FastifySchema {
    'x-access'?: Access
  }
  interface FastifyRequest {
    principal: Principal | null
  }
}

/** The caller of a route that is not open. */
export function callerOf(request: Request): Principal {
  if (request.principal === null) throw unauthorized()
  return request.principal
}

/** The path the service is reached under, and whether it is encrypted. */
export function cookiePlaceOf(request: Request, parts: Pick<AppParts, 'settings'>): CookiePlace {
  return { base: basePathOf(request, parts), isSecure: request.protocol === 'https' }
}

/** Asked again of a request that lasts: tokens end and are revoked, sessions are signed out. */
export async function isStillAllowed(
  request: Request,
  parts: Pick<AppParts, 'auth' | 'settings'>,
): Promise<boolean> {
  const { tenant, role } = callerOf(request)
  const now = await parts.auth.principalOf(request.headers, cookiePlaceOf(request, parts))
  return now !== null && now.tenant === tenant && now.role === role
}

export function guardRoutes(app: App, parts: AppParts): void {
  app.decorateRequest('principal', null)
  noticeForwarding(app, parts)
  app.addHook('onRoute', assertAccess)
  const countFailure = failureLimit(app, parts, 'failures')
  const calls = callLimit(app, parts)
  const share = shareRequests(app, parts)
  const identify = async (request: Request): Promise<Principal> => {
    if ((request.headers.authorization?.length ?? 0) > TOKEN_LENGTH_MAX) {
      throw new HttpProblem('header-too-large', 'the Authorization header is too long')
    }
    const principal = await parts.auth.principalOf(request.headers, cookiePlaceOf(request, parts))
    if (principal === null) return refuseUnknown(request, parts, countFailure)
    request.principal = principal
    await calls?.(request)
    return principal
  }
  const guard: onRequestAsyncHookHandler = async request => {
    await admit(request, parts, identify)
    if (request.principal !== null) await share(request, request.principal.tenant)
  }
  app.addHook('onRequest', guard)
}

/** For every route that is added: one that says nothing would be open to everyone. */
function assertAccess({ config, url }: Pick<RouteOptions, 'config' | 'url'>): void {
  if (config?.access === undefined) throw new Error(`route ${url} does not say who may use it`)
}

/** From this machine, under a name of it: a page cannot ask by a name of its own that leads here. */
function isOnThisMachine({ ip, headers }: Request): boolean {
  return isLoopback(ip) && isOfThisMachine(headers)
}

/** Says of a request whose it is, or throws why its route is not for them. */
async function admit(
  request: Request,
  parts: AppParts,
  identify: (request: Request) => Promise<Principal>,
): Promise<void> {
  const { access } = request.routeOptions.config
  if (access === undefined || access === 'open') return
  if (access === 'metrics' && isOnThisMachine(request)) return
  const principal = await identify(request)
  request.principal = principal
  await assertAllowed(request, principal, access, parts)
}

type Limiter = ReturnType<App['createRateLimit']>

/**
 * Counts a refused try and throws when its address had too many. What is right is never refused for
 * them: behind a proxy that is not declared, everyone has the same address.
 */
export function failureLimit(app: App, { settings }: AppParts, what: string) {
  const limiter = app.createRateLimit({
    max: settings.authFailuresPerMinute,
    timeWindow: 60_000,
    keyGenerator: request => `${what} ${request.ip}`,
  })
  return async (request: Request): Promise<void> => assertWithin(await limiter(request))
}

/** What is wrong with a token is not said, and trying many is slowed down. */
async function refuseUnknown(
  request: Request,
  parts: AppParts,
  countFailure: (request: Request) => Promise<void>,
): Promise<never> {
  await countFailure(request)
  await auditRefusal(request, parts, { tenant: EVERY_TENANT, action: 'auth.refused', sub: '' })
  throw unauthorized()
}

function callLimit(app: App, { settings }: AppParts): ((request: Request) => Promise<void>) | null {
  const { ratePerMinute } = settings
  if (ratePerMinute === null) return null
  const check = app.createRateLimit({
    max: ratePerMinute,
    timeWindow: 60_000,
    keyGenerator: request => `calls ${request.principal?.tenant} ${request.principal?.sub}`,
  })
  return async request => {
    assertWithin(await check(request))
  }
}

function assertWithin(limit: Awaited<ReturnType<Limiter>>): void {
  if (limit.isAllowed || !limit.isExceeded) return
  const retryAfterSeconds = Math.max(1, limit.ttlInSeconds)
  throw new HttpProblem('rate-limited', 'too many requests', { retryAfterSeconds })
}

async function assertAllowed(
  request: Request,
  principal: Principal,
  access: Exclude<Access, 'open'>,
  parts: AppParts,
): Promise<void> {
  const needsAll = access === 'metrics' || access === 'every-tenant'
  const needed = needsAll ? 'admin' : access
  const isWide = !needsAll || principal.tenant === EVERY_TENANT
  const isForged =
    principal.by === 'session' && !isSafe(request.method) && !isSameOrigin(request.headers)
  if (mayAct(principal.role, needed) && isWide && !isForged) return assertJson(request, principal)
  const { sub, tenant } = principal
  await auditRefusal(request, parts, { tenant, action: 'access.refused', sub })
  if (isForged) throw new HttpProblem('forbidden', 'the request does not come from our own pages')
  const whose = isWide ? '' : ' of every tenant'
  throw new HttpProblem('forbidden', `this needs the role ${needed}${whose}`)
}

/** What a form of another page can send is never JSON: with a cookie nothing else is written. */
function assertJson({ method, headers }: Request, { by }: Principal): void {
  if (by !== 'session' || isSafe(method)) return
  if (/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return
  throw new HttpProblem('unsupported-media-type', 'the request must be application/json')
}
