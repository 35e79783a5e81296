// Under which path the service is reached, as each request tells it: a host program may mount it
// anywhere, and a proxy that is trusted may say so.

import type { AppParts, Request } from '../app/parts.ts'
import { trustIn } from '../app/proxies.ts'

const plainPath = /^(?:\/[\w.~-]{1,100}){1,10}$/

/** Without a slash at its end; empty at the root, and for anything that is not a plain path. */
export function basePathOf(request: Request, { settings }: Pick<AppParts, 'settings'>): string {
  const isTrusted = trustIn(settings.trustedProxies)(request.raw.socket?.remoteAddress, 0)
  const forwarded = isTrusted ? request.headers['x-forwarded-prefix'] : undefined
  const prefix = typeof forwarded === 'string' ? plain(forwarded) : ''
  return prefix + plain(mountOf(request))
}

function plain(path: string): string {
  const bare = path.replace(/\/+$/, '')
  return plainPath.test(bare) && !bare.split('/').includes('..') ? bare : ''
}

/** Hosts that mount a handler cut the path and keep the whole of it as `originalUrl`. */
function mountOf(request: Request): string {
  const whole = pathOf(request.originalUrl)
  const own = pathOf(request.raw.url ?? '/')
  if (own === '/') return whole
  return whole.endsWith(own) ? whole.slice(0, -own.length) : ''
}

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0]!
}
