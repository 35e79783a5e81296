// A real node on a real store, with a handler that does nothing.

import { openStore, systemIds } from '../../src/compose.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import type { NewJob } from '../../src/core/job.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'

export const payload = {
  to: 'someone@example.org',
  template: 'welcome',
  values: { a: 1, b: 'x'.repeat(99) },
}

export async function makeRig(
  url: string,
  settings: Partial<EngineSettings> = {},
): Promise<Engine> {
  const store = await openStore(url, { now: () => systemClock.now(), listens: true })
  const engine = createEngine({
    store,
    clock: systemClock,
    ids: systemIds(),
    settings: { nodeId: 'bench', ...settings },
  })
  return engine
}

/** Made once, as a program has it: its first id fills a pool of random bytes. */
const ids = systemIds()

/** Due at once: by the clock of an engine, which is that of its store, as the library has it. */
export function jobs(
  count: number,
  make: (i: number) => Partial<SpecInput>,
  clock: Pick<Clock, 'now'> = systemClock,
): NewJob[] {
  return Array.from({ length: count }, (_, i) => ({
    id: ids.next(systemClock.now()),
    kind: 'task' as const,
    spec: completeSpec({
      handler: 'noop',
      payload,
      trigger: { kind: 'once', at: clock.now() },
      ...make(i),
    }),
  }))
}

/** Resolves when so many attempts were settled. */
export function settledCount(engine: Engine, count: number): Promise<void> {
  let seen = 0
  return new Promise(resolve => {
    const stop = engine.events.on('settled', ({ settled }) => {
      seen += settled.length
      if (seen < count) return
      stop()
      resolve()
    })
  })
}
