// Scenarios run on every store: the same story must be true on each.

import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'
import { openSqlite } from './sqlite.ts'
import { openMemory, type OpenStore } from './stores.ts'
import { makeWorld, type MakeWorld } from './world.ts'

function on(open: OpenStore): MakeWorld {
  return options => makeWorld({ open, ...options })
}

/** For `test.each`: one story, told on each store. */
export const stores: readonly (readonly [name: string, make: MakeWorld])[] = [
  ['memory', on(openMemory)],
  ['sqlite', on(openSqlite)],
  ['postgres', on(openPostgres)],
  ['redis', on(openRedis)],
]

export function forEachStore(body: (name: string, make: MakeWorld) => void): void {
  for (const [name, make] of stores) body(name, make)
}
