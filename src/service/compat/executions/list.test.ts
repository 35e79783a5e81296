// An execution that ends while its list is read is listed once.

import { expect, it } from 'vitest'
import { settle } from '../../../core/run/settle.ts'
import { MemoryStore } from '../../../store/memory/store.ts'
import { claimOne, job, succeeded, T0 } from '../../../../tests/support/builders.ts'
import { listExecutions } from './list.ts'

it('G6 an execution settled since the job was read is listed once', async () => {
  const store = new MemoryStore(() => T0)
  await store.open()
  await store.insert([job('j')], { now: T0 })
  const running = await claimOne(store, T0)
  const live = await listExecutions(store, running, { limit: 50 })
  expect(live).toMatchObject({ total: 1, items: [{ status: 'running' }] })
  await store.commit([settle(running, { outcome: succeeded, startedAt: T0 }, T0)], { now: T0 })
  for (const query of [{ limit: 50 }, { limit: 1 }, { limit: 50, offset: 0 }]) {
    const { items, total } = await listExecutions(store, running, query)
    expect({ total, status: items.map(({ status }) => status) }).toEqual({
      total: 1,
      status: ['completed'],
    })
  }
})
