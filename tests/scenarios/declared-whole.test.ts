// E7: the declared set is written as a whole or not at all, whatever is lost on the way.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/compose.ts'
import { editJob } from '../../src/core/control/edit.ts'
import { readDeclared } from '../../src/jobs/reconciling.ts'
import type { Store } from '../../src/store/port.ts'
import { Child } from '../end-to-end/children.ts'
import { stores } from '../support/each-store.ts'
import { Faults, isAtomic } from '../support/faulty.ts'
import { freshPlace } from '../support/servers/shared.ts'
import { callsOf, program } from '../support/tasks.ts'
import { makeWorld, type World } from '../support/world.ts'
import { skipTest } from '../support/skip.ts'

const at = '2026-01-06T15:30:00Z'

async function ids(world: World): Promise<string[]> {
  const { items } = await world.store.list({}, { limit: 50 })
  return items.map(({ id }) => id.replace('tasks/default/', '')).toSorted()
}

const losses = stores.flatMap(([name, make]) => [
  ['before', name, make] as const,
  ['after', name, make] as const,
])

test.each(losses)(
  'E7: a start whose way breaks %s its one write is told once and done once, on %s',
  async (when, _, make) => {
    const world = await make({ at })
    const { task } = callsOf(world)
    const faults = new Faults()
    const one = await program(world, {}, store => faults.wrap(store))
    await one.initialize([task('a', '0 * * * *'), task('b', '0 3 * * *')])
    await one.stop()
    faults.cut('atomic commit', when)
    await one.initialize([task('b', '0 4 * * *'), task('c', '0 5 * * *')])
    expect(faults.left).toBe(0)
    expect(await ids(world)).toEqual(['b', 'c'])
    expect(one.reports).toHaveLength(2)
    expect(one.reports[1]).toMatchObject({
      added: ['c'],
      removed: ['a'],
      changed: [{ name: 'b', field: 'cron' }],
    })
  },
)

test('E7: while the store is out of reach nothing of the new list is in force', async () => {
  const world = await makeWorld({ at })
  const { task } = callsOf(world)
  const faults = new Faults()
  const one = await program(world, {}, store => faults.wrap(store))
  await one.initialize([task('a', '0 * * * *')])
  await one.stop()
  faults.cut('atomic commit', 'before')
  faults.cut('atomic commit', 'before')
  await expect(one.initialize([task('b', '0 * * * *')])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  expect(await ids(world)).toEqual(['a'])
  await one.initialize([task('b', '0 * * * *')])
  expect(await ids(world)).toEqual(['b'])
})

test('E7: a list that always meets other writers is refused as a whole', async () => {
  const world = await makeWorld({ at })
  const { task } = callsOf(world)
  let isMeddling = false
  let changed = 0
  const one = await program(world, {}, store => {
    return new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (name !== 'commit' || !isMeddling) return member
        return async (...args: Parameters<typeof store.commit>) => {
          if (!isAtomic(name, args)) return target.commit(...args)
          const held = await world.job('tasks/default/a')
          const spec = { ...held.spec, payload: ++changed }
          await world.store.commit([editJob(held, spec, world.now)!], { now: world.now })
          return target.commit(...args)
        }
      },
    })
  })
  await one.initialize([task('a', '0 * * * *')])
  await one.stop()
  isMeddling = true
  await expect(
    one.initialize([task('a', '5 * * * *'), task('b', '0 * * * *')]),
  ).rejects.toMatchObject({ code: 'REVISION_CONFLICT' })
  expect(changed).toBeGreaterThanOrEqual(10)
  expect(await ids(world)).toEqual(['a'])
  isMeddling = false
  await one.initialize([task('a', '5 * * * *'), task('b', '0 * * * *')])
  expect(await ids(world)).toEqual(['a', 'b'])
})

const COUNT = 300

async function addressOf(kind: 'sqlite' | 'postgres'): Promise<string> {
  if (kind !== 'sqlite') {
    const place = await freshPlace(kind)
    if ('missing' in place) skipTest(place.missing)
    return place.url
  }
  const folder = await mkdtemp(join(tmpdir(), 'carillon-swap-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'tasks.db')}`
}

/** Words of a process to its database, counted from the beginning of the one write. */
test.each([
  ['sqlite', [1_500]],
  ['postgres', [2, 6]],
] as const)(
  'E7: a process killed while it writes leaves the list as it was, on %s',
  async (kind, fatals) => {
    const address = await addressOf(kind)
    const begin = (letter: string, ...fatal: number[]) => {
      const args = [address, letter, ...[COUNT, ...fatal].map(String)]
      const child = new Child('../scenarios/declared-swap-child.ts', args)
      onTestFinished(() => child.kill())
      return child
    }
    const first = begin('a')
    await first.ready()
    await first.kill()
    const store = await openStore(address, { now: () => Date.now(), listens: false })
    onTestFinished(() => store.close())
    for (const fatal of fatals) {
      const dying = begin('b', fatal)
      await dying.gone()
      expect(dying.lines).not.toContain('ready')
      expect(dying.errors).toBe('')
      expect(await lettersIn(store)).toEqual({ a: COUNT })
    }
    const last = begin('b')
    await last.ready()
    expect(await lettersIn(store)).toEqual({ b: COUNT })
  },
  120_000,
)

async function lettersIn(store: Store): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { spec } of await readDeclared(store, { app: 'tasks/default' })) {
    const letter = spec.name[0]!
    found[letter] = (found[letter] ?? 0) + 1
  }
  return found
}
