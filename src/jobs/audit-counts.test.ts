// Equal audit entries as counted rows: bounded in rows, and patient with a store that fails.

import { expect, test } from 'vitest'
import { MINUTE, SECOND } from '../core/time.ts'
import { SystemIds } from '../runtime/ids.ts'
import { MemoryStore } from '../store/memory/store.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { AUDIT_ROWS_MAX, AuditCounts } from './audit-counts.ts'

async function opened() {
  const clock = new VirtualClock(0)
  const store = new MemoryStore(() => clock.now())
  await store.open()
  const counts = new AuditCounts({ store, clock, ids: new SystemIds() })
  const add = (object: string, sub = 'ana') => {
    const actor = { sub, tenant: 'acme', ip: '192.0.2.1', requestId: null }
    return counts.add({
      actor,
      tenant: 'acme',
      action: 'access.refused',
      object,
      result: 'refused',
    })
  }
  const rows = async () => {
    const { items } = await store.listRecords('audit:acme', { limit: 250 }, clock.now())
    return items.map(({ value }) => value as { actor: string; object: string; count: number })
  }
  return { clock, store, counts, add, rows }
}

test('S5 what differs in 10,000 ways in a minute is a bounded number of rows that count all', async () => {
  const { counts, add, rows, clock, store } = await opened()
  for (let i = 0; i < 10_000; i++) await add(`GET /${i}`)
  await counts.flush()
  const first = await rows()
  const next = await store.listRecords('audit:acme', { limit: 250, newestFirst: true }, clock.now())
  const rest = next.items[0]!.value as { actor: string; object: null; count: number }
  expect(rest).toMatchObject({ actor: '', object: null, is_rest: true })
  expect(first).toHaveLength(250)
  expect(first.reduce((sum, { count }) => sum + count, 0)).toBe(AUDIT_ROWS_MAX)
  expect(rest.count).toBe(10_000 - AUDIT_ROWS_MAX)
  await clock.advanceTo(MINUTE)
  await add('GET /new')
  expect((await store.listRecords('audit:acme', { limit: 250 }, clock.now())).cursor).not.toBeNull()
})

test('S5 a count that could not be written is written when the store works again', async () => {
  const { counts, add, rows, clock, store } = await opened()
  const put = store.putRecords.bind(store)
  store.putRecords = () => Promise.reject(new Error('away'))
  await expect(add('GET /a')).rejects.toThrow('away')
  await add('GET /a')
  await clock.advanceTo(SECOND)
  await expect(counts.flush()).rejects.toThrow('away')
  store.putRecords = put
  await counts.flush()
  expect(await rows()).toMatchObject([{ object: 'GET /a', count: 2 }])
})
