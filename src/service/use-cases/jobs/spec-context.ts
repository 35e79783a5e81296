// What a spec is made with, besides the body that asks for it.

import { EVERY_TENANT } from '../../auth/principal.ts'
import type { Call } from '../call/call.ts'
import type { SpecContext } from './spec.ts'

export function contextOf({ caller, actions, engine }: Call): SpecContext {
  return { actions, now: engine.clock.now(), isOfEveryTenant: caller.tenant === EVERY_TENANT }
}
