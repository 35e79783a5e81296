// Random histories through the memory store and Redis: both must answer alike.
// CARILLON_SEEDS sets how many histories, CARILLON_SEED runs a single one again.

import { describe, it } from 'vitest'
import { openRedis } from '../support/redis.ts'
import { openMemory, type OpenedStore } from '../support/stores.ts'
import { compareSnapshots } from './snapshot.ts'
import { operate } from './upkeep.ts'
import { World, type Findings } from './world.ts'

const STEPS = 60
const CHUNK = 10
const only = process.env.CARILLON_SEED
const count = Number(process.env.CARILLON_SEEDS ?? 40)
const seeds = only ? [Number(only)] : Array.from({ length: count }, (_, i) => i + 1)
const chunks = Array.from({ length: Math.ceil(seeds.length / CHUNK) }, (_, i) =>
  seeds.slice(i * CHUNK, (i + 1) * CHUNK),
)

async function checkSeed(seed: number): Promise<void> {
  const findings: Findings = { met: new Map(), broken: new Map(), brokenBetween: new Map() }
  const clock = { now: () => 0 }
  const read = () => clock.now()
  const stores: OpenedStore[] = [await openMemory(read), await openRedis(read)]
  const named = stores.map(({ store }) => ({ name: store.kind, store }))
  const world = new World(seed, named, findings)
  clock.now = () => world.now
  try {
    for (world.step = 1; world.step <= STEPS; world.step++) {
      await world.refresh(await operate(world))
      if (world.step % 20 === 0) await compareSnapshots(world)
    }
  } finally {
    for (const { close } of stores) await close()
  }
}

describe('one history through memory and Redis', () => {
  it.each(chunks.map(chunk => [chunk[0]!, chunk.at(-1)!, chunk] as const))(
    'gives equal answers, seeds %i to %i',
    async (_first, _last, chunk) => {
      for (const seed of chunk) await checkSeed(seed)
    },
  )
})
