// A node and its client over one store: everything the surfaces are built on.

import { shortId } from '../core/short-id.ts'
import type { Store } from '../store/port.ts'
import { Client } from './client.ts'
import { CorrectedClock, type Clock } from './clock.ts'
import { Events } from './events.ts'
import { Handlers, type Tracing } from './handlers.ts'
import type { Ids } from './ids.ts'
import { Node } from './node.ts'
import { makeParts, type Parts } from './parts.ts'
import { engineSettings, type EngineSettings } from './settings.ts'
import { Wake } from './wake.ts'

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
