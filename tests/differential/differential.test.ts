// One random history through the memory store and every other one: all must answer alike.
// CARILLON_SEEDS sets how many histories, CARILLON_SEED runs a single one again.

import { describe, expect, it } from 'vitest'
import { openPostgres } from '../support/postgres.ts'
import { openRedis } from '../support/redis.ts'
import { openSqlite, openSqliteInMemory } from '../support/sqlite.ts'
import { openMemory, type OpenedStore, type OpenStore } from '../support/stores.ts'
import { required } from './coverage.ts'
import { compareSnapshots } from './snapshot.ts'
import { operate } from './upkeep.ts'
import { World, type Findings } from './world.ts'

const STEPS = 60
const CHUNK = 50
/** Further histories, as long as some operation was not met in every way. */
const MORE = 300
const only = process.env.CARILLON_SEED
const count = Number(process.env.CARILLON_SEEDS ?? 300)
const seeds = only ? [Number(only)] : Array.from({ length: count }, (_, i) => i + 1)
const chunks = chunked(seeds, CHUNK)
const findings: Findings = { met: new Map(), broken: new Map(), brokenBetween: new Map() }

/** A server answers over the network: fewer histories there, from further on. */
const SERVER_SHARE = 15
const SERVER_CHUNK = 4
const SERVER_SEEDS_FROM = 10_001
const serverCount = Math.ceil(count / SERVER_SHARE)
const serverSeeds = only
  ? [Number(only)]
  : Array.from({ length: serverCount }, (_, i) => SERVER_SEEDS_FROM + i)
const servers = { PostgreSQL: openPostgres, Redis: openRedis } as const
const serverCases = (['PostgreSQL', 'Redis'] as const).flatMap(kind =>
  chunked(serverSeeds, SERVER_CHUNK).map(chunk => [kind, chunk[0]!, chunk.at(-1)!] as const),
)

function chunked(all: readonly number[], size: number): number[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  )
}

/** A file for some, so that the real thing is met too; without one it is many times faster. */
function sqliteFor(seed: number): OpenStore {
  return seed % 10 === 0 ? openSqlite : openSqliteInMemory
}

async function checkSeed(seed: number, openOther: OpenStore = sqliteFor(seed)): Promise<void> {
  const clock = { now: () => 0 }
  const read = () => clock.now()
  const stores: OpenedStore[] = [await openMemory(read), await openOther(read)]
  const named = stores.map(({ store }) => ({ name: store.kind, store }))
  const world = new World(seed, named, findings)
  clock.now = () => world.now
  try {
    for (world.step = 1; world.step <= STEPS; world.step++) {
      await world.refresh(await operate(world))
      if (world.step % 10 === 0) await compareSnapshots(world)
    }
    for (const { store } of stores) {
      expect(await store.maintenance.inspect(1), `seed ${seed}`).toEqual([])
    }
  } finally {
    for (const { close } of stores) await close()
  }
}

function told(broken: Map<string, string>): string[] {
  return [...broken].map(([rule, place]) => `${rule} (${place})`)
}

describe('one history through all stores', () => {
  it.each(chunks.map(chunk => [chunk[0]!, chunk.at(-1)!, chunk] as const))(
    'gives equal answers, seeds %i to %i',
    async (_first, _last, chunk) => {
      for (const seed of chunk) await checkSeed(seed)
    },
  )

  it.each(serverCases)('gives equal answers on %s, seeds %i to %i', async (kind, first, last) => {
    const open = servers[kind]
    for (let seed = first; seed <= last; seed++) await checkSeed(seed, open)
  })

  it.skipIf(only !== undefined)('meets every operation in every way it can end', async () => {
    const unmet = () => required.filter(key => !findings.met.has(key))
    for (let seed = count + 1; unmet().length > 0 && seed <= count + MORE; seed++) {
      await checkSeed(seed)
    }
    expect(unmet()).toEqual([])
  })

  it('keeps every rule of jobs and their histories', () => {
    expect(told(findings.broken)).toEqual([])
  })

  it('keeps them also when something comes between claim and begin', () => {
    expect(told(findings.brokenBetween)).toEqual([])
  })
})
