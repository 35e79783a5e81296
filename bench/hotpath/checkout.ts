// The modules of a checkout, which need not be this one: an older commit is measured by the same script.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Compose from '../../src/compose.ts'
import type * as Spec from '../../src/core/spec.ts'
import type { NewJob } from '../../src/core/job.ts'
import type * as ClockModule from '../../src/runtime/clock.ts'
import type * as EngineModule from '../../src/create-engine.ts'
import type { Engine } from '../../src/create-engine.ts'
import { mixedJobs } from '../side/mixed-jobs.ts'

const MIXED_PRIORITIES = [2, 3, 4] as const
const INSERT_BATCH = 10_000

export interface Checkout {
  readonly open: (url: string) => Promise<Engine>
  readonly job: (given: Spec.SpecInput) => NewJob
}

export async function openCheckout(folder: string): Promise<Checkout> {
  // Older checkouts have some modules in other places.
  const load = (...paths: readonly string[]): Promise<unknown> => {
    const path = paths.find(one => existsSync(join(folder, one)))
    if (path === undefined) throw new Error(`${folder} has none of ${paths.join(', ')}`)
    return import(pathToFileURL(join(folder, path)).href)
  }
  const { openStore, systemIds } = (await load('src/compose.ts')) as typeof Compose
  const { completeSpec } = (await load('src/core/job/spec.ts', 'src/core/spec.ts')) as typeof Spec
  const { systemClock } = (await load(
    'src/runtime/clock.ts',
    'src/engine/clock.ts',
  )) as typeof ClockModule
  const { createEngine } = (await load(
    'src/create-engine.ts',
    'src/engine/engine.ts',
  )) as typeof EngineModule
  const ids = systemIds()
  return {
    open: async url => {
      const store = await openStore(url, { now: () => systemClock.now(), listens: true })
      return createEngine({ store, clock: systemClock, ids, settings: { nodeId: 'hotpath' } })
    },
    job: given => ({
      id: ids.next(systemClock.now()),
      kind: 'task',
      seriesId: null,
      declared: null,
      spec: completeSpec(given),
    }),
  }
}

/** Due at once, as `npm run bench -- --only mixed` has them. */
export async function fillMixed({ job }: Checkout, engine: Engine, count: number): Promise<void> {
  const list = mixedJobs(count)
  for (let at = 0; at < list.length; at += INSERT_BATCH) {
    const batch = list.slice(at, at + INSERT_BATCH)
    await engine.client.create(
      batch.map(({ handler, user, priority, payload }) =>
        job({
          handler,
          lane: user,
          priority: MIXED_PRIORITIES[priority],
          payload: { ...payload, values: [...payload.values] },
          trigger: { kind: 'once', at: engine.clock.now() },
        }),
      ),
    )
  }
}
