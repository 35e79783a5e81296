// Scenarios run on every store: the same story must be true on each.

import { describe, test } from 'vitest'
import { openSqlite } from './sqlite.ts'
import { openMemory, type OpenStore } from './stores.ts'
import { makeWorld, type MakeWorld } from './world.ts'

const stores: Readonly<Record<string, OpenStore>> = { memory: openMemory, sqlite: openSqlite }

export function forEachStore(body: (name: string, makeWorld: MakeWorld) => void): void {
  for (const [name, open] of Object.entries(stores)) {
    body(name, options => makeWorld({ open, ...options }))
  }
}

/** One story, told on each store. */
export function scenario(title: string, story: (makeWorld: MakeWorld) => Promise<void>): void {
  describe(title, () => {
    forEachStore((name, make) => test(`on ${name}`, () => story(make)))
  })
}
