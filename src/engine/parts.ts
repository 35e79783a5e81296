// What the pieces of a node share, each by its name.

import type { Millis } from '../core/time.ts'
import type { CorrectedClock } from '../runtime/clock.ts'
import type { Events } from '../runtime/events.ts'
import type { Ids } from '../runtime/ids.ts'
import type { Owner } from '../runtime/owner.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import type { StoreMonitor } from '../runtime/store-monitor.ts'
import type { Troubles } from '../runtime/troubles.ts'
import type { Wake } from '../runtime/wake.ts'
import type { Store } from '../store/port.ts'
import type { Handlers } from './handlers.ts'

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
  readonly declarations: PublishedDeclarations
  /** Makes alerts of what goes wrong with jobs. */
  readonly episodes: Companion
  /** Counts the outcomes of tasks at their series. */
  readonly series: SeriesCounts
}

/** Works beside the loop for as long as the node runs. */
export interface Companion {
  start(): void
  stop(): Promise<void>
  /** As if the process had died. */
  abandon(): void
}

export interface SeriesCounts extends Companion {
  /** Counts what nodes that are gone have left; only what is at least that old unless 0. */
  sweep(leftMs?: Millis): Promise<void>
}

export interface PublishedDeclarations {
  readonly pauseMs: Millis
  /** False when this node declares nothing: then there is nothing to look after. */
  check(): Promise<boolean>
  retire(): Promise<void>
}

/** Another start of the node: a new owner, and no past of the store calls. */
export function restart({ owner, monitor }: Pick<Parts, 'owner' | 'monitor'>): void {
  owner.restart()
  monitor.restart()
}
