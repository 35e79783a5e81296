// What the pieces of a node share.

import type { Store } from '../store/store.ts'
import type { CorrectedClock } from './clock.ts'
import type { Events } from './events.ts'
import type { Handlers } from './handlers.ts'
import type { Ids } from './ids.ts'
import type { EngineSettings } from './settings.ts'
import type { Wake } from './wake.ts'

export interface Parts {
  readonly store: Store
  readonly clock: CorrectedClock
  readonly ids: Ids
  readonly handlers: Handlers
  readonly settings: EngineSettings
  readonly events: Events
  readonly wake: Wake
}
