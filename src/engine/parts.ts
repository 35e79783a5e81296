// What the pieces of a node share.

import type { Store } from '../store/port.ts'
import type { CorrectedClock } from './clock.ts'
import { Declarations } from './declarations.ts'
import { Episodes } from './episodes.ts'
import type { Events } from './events.ts'
import type { Handlers } from './handlers.ts'
import type { Ids } from './ids.ts'
import { Owner } from './owner.ts'
import type { EngineSettings } from './settings.ts'
import { StoreMonitor } from './store-monitor.ts'
import { Troubles } from './troubles.ts'
import type { Wake } from './wake.ts'

export interface Parts {
  /** Measured by the monitor. */
  readonly store: Store
  readonly clock: CorrectedClock
  readonly ids: Ids
  readonly handlers: Handlers
  readonly settings: EngineSettings
  readonly events: Events
  readonly wake: Wake
  readonly troubles: Troubles
  readonly owner: Owner
  readonly monitor: StoreMonitor
  /** What this node declares, if its program declares jobs. */
  readonly declarations: Declarations
  /** Makes alerts of what goes wrong with jobs. */
  readonly episodes: Episodes
}

type Given = Omit<Parts, 'troubles' | 'owner' | 'monitor' | 'declarations' | 'episodes'>

export function makeParts(given: Given): Parts {
  const { clock, ids, settings, events } = given
  const monitor = new StoreMonitor(clock, settings.leaseMs)
  const troubles = new Troubles(clock, events)
  return {
    ...given,
    store: monitor.watch(given.store),
    troubles,
    owner: new Owner(settings.nodeId, ids),
    monitor,
    // Lists of a label may be long: how long they take says nothing about the store.
    declarations: new Declarations({ ...given, troubles }),
    episodes: new Episodes(given),
  }
}

/** Another start of the node: a new owner, and no past of the store calls. */
export function restart({ owner, monitor }: Pick<Parts, 'owner' | 'monitor'>): void {
  owner.restart()
  monitor.restart()
}
