// What a spec is made with, besides the body that asks for it.

import type { AppParts, Request } from '../../http/app/parts.ts'
import { callerOf } from '../../auth/access.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import type { SpecContext } from './spec.ts'

export function contextOf(request: Request, { actions, engine }: AppParts): SpecContext {
  const isOfEveryTenant = callerOf(request).tenant === EVERY_TENANT
  return { actions, now: engine.clock.now(), isOfEveryTenant }
}
