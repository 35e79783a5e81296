// A node and its client over one store: everything the surfaces are built on. The one place that
// knows the parts of a node on both sides of the engine.

import { shortId } from './core/short-id.ts'
import { Handlers, type Tracing } from './engine/handlers.ts'
import { Node } from './engine/node.ts'
import type { Parts } from './engine/parts.ts'
import { Client } from './jobs/client.ts'
import { Declarations } from './jobs/declarations.ts'
import { CorrectedClock, type Clock } from './runtime/clock.ts'
import { Events } from './runtime/events.ts'
import type { Ids } from './runtime/ids.ts'
import { Owner } from './runtime/owner.ts'
import { engineSettings, type EngineSettings } from './runtime/settings.ts'
import { StoreMonitor } from './runtime/store-monitor.ts'
import { Troubles } from './runtime/troubles.ts'
import { Wake } from './runtime/wake.ts'
import type { Store } from './store/port.ts'
import { Episodes } from './watch/episodes.ts'
import { SeriesFold } from './watch/series-fold.ts'

export interface EngineOptions {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly settings: Partial<EngineSettings> & { readonly nodeId: string }
  /** Given when somebody listens already. */
  readonly events?: Events
  readonly tracing?: Tracing | null
}

export interface Engine extends Parts {
  readonly node: Node
  readonly client: Client
  readonly declarations: Declarations
}

export function createEngine(options: EngineOptions): Engine {
  const { store, ids } = options
  const settings = engineSettings(options.settings)
  const clock = new CorrectedClock(options.clock)
  const handlers = new Handlers(options.tracing)
  const events = options.events ?? new Events()
  const wake = new Wake(clock)
  const parts = makeParts({ store, clock, ids, handlers, settings, events, wake })
  const node = new Node(parts)
  const client = new Client({
    store,
    clock,
    ids,
    events,
    waitingMax: settings.waitingMax,
    holdMs: settings.holdMs,
    node,
    tracing: options.tracing ?? null,
  })
  store.listen({
    onWake: () => node.onExternalWrite(),
    onDamage: job => {
      const error = new Error(job.lastError?.message ?? 'unreadable')
      events.emit('error', { kind: 'record', error, during: `reading job ${shortId(job.id)}` })
    },
    onRecordDamage: ({ kind, key, reason }) => {
      const error = new Error(`the stored record is unreadable: ${reason}`)
      events.emit('error', { kind: 'record', error, during: `reading record ${kind} ${key}` })
    },
  })
  // The surfaces read large lists: how long those take says nothing about the store.
  return { ...parts, store, node, client }
}

type SharedParts = Pick<
  Parts,
  'store' | 'clock' | 'ids' | 'handlers' | 'settings' | 'events' | 'wake'
>

export interface NodeParts extends Parts {
  readonly declarations: Declarations
}

export function makeParts(given: SharedParts): NodeParts {
  const { clock, ids, settings, events } = given
  const monitor = new StoreMonitor(clock, settings.leaseMs)
  const troubles = new Troubles(clock, events)
  const store = monitor.watch(given.store)
  return {
    ...given,
    store,
    troubles,
    owner: new Owner(settings.nodeId, ids),
    monitor,
    // Lists of a label may be long: how long they take says nothing about the store.
    declarations: new Declarations({ ...given, troubles }),
    episodes: new Episodes(given),
    series: new SeriesFold({ store, clock, events }),
  }
}
