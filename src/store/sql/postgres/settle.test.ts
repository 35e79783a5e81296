// Settles in bulk, where what they meet is not what they expect.

import { afterEach, beforeEach, expect, it } from 'vitest'
import { settle } from '../../../core/run/settle.ts'
import { claimRequest, newJob, succeeded, T0 } from '../../../../tests/support/builders.ts'
import { askPostgres } from '../../../../tests/support/servers/postgres.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import { PostgresStore } from './store.ts'

let place: FreshPlace
let store: PostgresStore
beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
  store = await opened()
  await store.insert([newJob({ id: 'a' }), newJob({ id: 'b' })], { now: T0 })
})
afterEach(async () => {
  await store.close()
  await place.clean()
})

async function opened(): Promise<PostgresStore> {
  const one = new PostgresStore({ url: place.url, clock: () => T0, listens: false })
  await one.open()
  return one
}

async function settles() {
  const claimed = await store.claim(claimRequest({ limit: 2 }))
  return claimed.map(job => settle(job, { outcome: succeeded, startedAt: T0 }, T0))
}

it('an attempt whose number is taken takes its place', async () => {
  const changes = await settles()
  await askPostgres(
    place.url,
    `insert into ${place.name}.attempts
      select 'earlier', seq, 1, 1, 1, 1, 0, 'schedule', null, 1, 0, 'n', 1, 1, 1, 'failed', 0, 1, 0, null
        from ${place.name}.jobs where id = 'b'`,
  )
  const { results } = await store.commit(changes, { now: T0 })
  expect(results).toEqual(['committed', 'committed'])
  const { items } = await store.attempts({}, { limit: 9 })
  expect(items.map(({ id }) => id).sort()).toEqual(changes.map(({ attempt }) => attempt!.id).sort())
  expect(await store.verify()).toEqual([])
})

it('those of jobs that another process claimed are written, one that lost its lease is not', async () => {
  const [first, second] = await settles()
  const other = await opened()
  await askPostgres(
    place.url,
    `update ${place.name}.job_states set token = 'other'
      where seq = (select seq from ${place.name}.jobs where id = '${second!.job.id}')`,
  )
  const inserts = [newJob({ id: 'c', kind: 'task' })]
  const changes = [
    { ...first!, inserts },
    { ...second!, inserts: [newJob({ id: 'd' })] },
  ]
  const { results } = await other.commit(changes, { now: T0 })
  expect(results).toEqual(['committed', 'conflict'])
  expect((await other.get(['c', 'd'])).map(({ id }) => id)).toEqual(['c'])
  expect(await other.verify()).toEqual([])
  await other.close()
})
