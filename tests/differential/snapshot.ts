// Everything a store can be asked, read in full: two stores with one history answer alike.

import type { Store } from '../../src/store/port.ts'
import { readAll } from '../support/builders.ts'
import { dumpOf, sorted } from '../support/rich.ts'
import { handlers, queues, tenants } from './specs.ts'
import { askAll } from './questions.ts'
import { recordKinds } from './records.ts'
import type { World } from './world.ts'

const lines = queues.flatMap(queue => handlers.map(handler => ({ queue, handler })))

export async function compareSnapshots(world: World): Promise<void> {
  const { now, random } = world
  const ids = [...world.jobs.keys()]
  const limit = random.int(1, 7)
  const newestFirst = random.chance(0.5)
  const line = random.pick(lines)
  const read = { limit, newestFirst }
  await world.all('list', store => readAll(page => store.list({}, page), read))
  await world.all('get', store => store.get(ids))
  await world.all('attempts', store => readAll(page => store.attempts({}, page), read))
  for (const id of ids) await compareJob(world, id, read)
  await world.all('counts', async store => countsOf(store))
  for (const tenant of tenants) {
    await world.all(`counts of ${tenant}`, async store => countsOf(store, { tenant }))
  }
  await world.all('dump', async store => sorted(await dumpOf(store, limit)))
  await askAll(world)
  await world.all('nextDueAt', store => store.nextDueAt(lines))
  await world.all('nextDueAt of one line', store => store.nextDueAt([line]))
  await world.all('overdue', store => store.overdue({ now, limit: 100 }))
  await world.all('overdue later', store => store.overdue({ now: now + 60_000, limit: 100 }))
  await world.all('pausedQueues', store => store.pausedQueues())
  for (const kind of recordKinds) {
    await world.all('records', store =>
      readAll(page => store.listRecords(kind, page, now), { limit }),
    )
    await world.all('records by key', store => store.getRecords(kind, ['ö', 'x', 'a', 'b'], now))
  }
}

async function compareJob(
  world: World,
  id: string,
  read: { limit: number; newestFirst: boolean },
): Promise<void> {
  await world.all(`ledger of ${id}`, store => readAll(page => store.ledger(id, page), read))
  await world.all(`progress of ${id}`, store => store.progress(id))
  const attempts = await world.all(`attempts of ${id}`, store =>
    readAll(page => store.attempts({ jobId: id }, page), read),
  )
  const last = attempts.at(-1)
  if (last) await world.all('log', store => readAll(page => store.log(last.id, page), read))
}

async function countsOf(store: Store, filter?: { readonly tenant: string }): Promise<string[]> {
  const counts = await store.counts(filter)
  const told = counts.filter(({ count, pruned }) => count > 0 || pruned > 0)
  return told
    .map(({ queue, handler, kind, state, count, pruned }) =>
      JSON.stringify([queue, handler, kind, state, count, pruned]),
    )
    .sort()
}
