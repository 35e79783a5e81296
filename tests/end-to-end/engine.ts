// A real engine for the child processes: system clock, real ids, one SQLite file.

import { CorrectedClock, systemClock } from '../../src/engine/clock.ts'
import { Client } from '../../src/engine/client.ts'
import { Events } from '../../src/engine/events.ts'
import { Handlers, type Handler } from '../../src/engine/handlers.ts'
import { SystemIds } from '../../src/engine/ids.ts'
import { Node } from '../../src/engine/node.ts'
import { engineSettings } from '../../src/engine/settings.ts'
import { Wake } from '../../src/engine/wake.ts'
import { SqliteStore } from '../../src/store/sqlite/store.ts'

export interface Engine {
  readonly node: Node
  readonly client: Client
  readonly events: Events
  readonly store: SqliteStore
}

export interface EngineOptions {
  readonly path: string
  readonly nodeId: string
  readonly leaseMs: number
  readonly handler: Handler
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { path, nodeId, leaseMs } = options
  const store = new SqliteStore({ path, clock: () => systemClock.now(), busyMs: 1_000 })
  await store.open()
  const clock = new CorrectedClock(systemClock)
  const handlers = new Handlers()
  handlers.set('work', options.handler)
  const events = new Events()
  const parts = {
    store,
    clock,
    ids: new SystemIds(),
    handlers,
    events,
    wake: new Wake(clock),
    settings: engineSettings({
      nodeId,
      leaseMs,
      slots: 20,
      reapMs: 50,
      lookMs: 50,
      checkIntervalMs: 50,
      abortGraceMs: 100,
    }),
  }
  const node = new Node(parts)
  const client = new Client({
    ...parts,
    waitingMax: null,
    notice: queues => node.notice(queues),
    lookNow: () => node.lookNow(),
  })
  return { node, client, events, store }
}

/** Waits on the engine's own clock; for handlers. */
export function after(ms: number): Promise<void> {
  return new Promise(resolve => {
    systemClock.after(ms, resolve)
  })
}
