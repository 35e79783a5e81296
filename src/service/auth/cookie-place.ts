// Where a session's cookie lives: the path the service is reached under, and whether it is encrypted.

import type { AppParts, Request } from '../http/app/parts.ts'
import { basePathOf } from '../http/dashboard/base.ts'
import type { CookiePlace } from './session.ts'

export function cookiePlaceOf(request: Request, parts: Pick<AppParts, 'settings'>): CookiePlace {
  return { base: basePathOf(request, parts), isSecure: request.protocol === 'https' }
}
