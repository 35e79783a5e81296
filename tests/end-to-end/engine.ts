// A real engine for the child processes: real ids, a real store, and the system's clock or one that
// is off by a given time.

import { openStore } from '../../src/compose.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'
import { sharedClock } from './faults/shared-clock.ts'

export type { Engine }

export interface EngineOptions {
  readonly url: string
  readonly nodeId: string
  readonly handlers: Readonly<Record<string, Handler>>
  readonly settings?: Partial<EngineSettings>
  /** How far the node's own clock is from the true time; the store's is not. */
  readonly skewMs?: number
  /** The file of a clock that all processes share (faults/shared-clock). */
  readonly clockFile?: string | null
}

const settings = {
  slots: 20,
  reapMs: 50,
  idleReapMs: 50,
  cancelCheckMs: 50,
  checkIntervalMs: 50,
  abortGraceMs: 100,
}

function skewed(clock: Clock, skewMs: number): Clock {
  return { ...clock, now: () => clock.now() + skewMs }
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { url, nodeId, skewMs = 0 } = options
  const clock = sharedClock(options.clockFile ?? null)
  const store = await openStore(url, { now: () => clock.now(), listens: true })
  const engine = createEngine({
    store,
    clock: skewed(clock, skewMs),
    ids: new SystemIds(),
    settings: { ...settings, ...options.settings, nodeId },
  })
  for (const [name, handler] of Object.entries(options.handlers)) {
    engine.handlers.set(name, handler)
  }
  return engine
}

/** Waits on the engine's own clock; for handlers. */
export function after(ms: number): Promise<void> {
  return new Promise(resolve => {
    systemClock.after(ms, resolve)
  })
}
