// Where a session's cookie lives: the path the service is reached under, and whether it is encrypted.

import type { AppParts, Request } from '../app/parts.ts'
import { basePathOf } from '../dashboard/base.ts'
import type { CookiePlace } from '../../auth/session.ts'

export function cookiePlaceOf(request: Request, parts: Pick<AppParts, 'settings'>): CookiePlace {
  return { base: basePathOf(request, parts), isSecure: request.protocol === 'https' }
}
