// Pages that leave out what comes first, for callers that count.

import { describe, expect, it } from 'vitest'
import { limits } from '../../../src/core/limits.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { Page, PageRequest, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  everyMinute,
  finish,
  newJob,
  readAll,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

type Query = (store: Store, page: PageRequest) => Promise<Page<unknown>>

const queries: [string, Query][] = [
  ['list', (store, page) => store.list({}, page)],
  ['list of a tenant', (store, page) => store.list({ tenant: 't1' }, page)],
  ['list by text', (store, page) => store.list({ search: 'job-' }, page)],
  ['tenants', (store, page) => store.tenants(page)],
  ['attempts', (store, page) => store.attempts({}, page)],
  ['attempts of a tenant', (store, page) => store.attempts({ tenant: 't1' }, page)],
  ['attempts of a job', (store, page) => store.attempts({ jobId: 'job-1' }, page)],
  ['ledger', (store, page) => store.ledger('job-0', page)],
  ['log', (store, page) => store.log('att', page)],
  ['records', (store, page) => store.listRecords('k', page, T0)],
]

/** Some of everything there is to list. */
async function fill(store: Store): Promise<void> {
  const jobs = Array.from({ length: 8 }, (_, i) =>
    newJob({
      id: `job-${i}`,
      spec: { ...everyMinute, queue: `q${i}`, tenant: i < 3 ? `t${i}` : 't1' },
    }),
  )
  await put(store, ...jobs)
  for (const i of [0, 1, 5]) await runSome(store, `q${i}`)
  await log(store, 'q2')
  const records = ['a', 'b', 'c', 'd', 'e', 'f'].map(key => {
    return { kind: 'k', key, value: 1, expectedVersion: null, expireAt: null }
  })
  await store.putRecords(records, T0)
}

async function runSome(store: Store, queue: string): Promise<void> {
  let now = T0 + MINUTE
  for (let i = 0; i < 5; i++) {
    const settled = await finish(store, await claimOne(store, now, { queue }), succeeded, now)
    now = settled.dueAt!
  }
}

async function log(store: Store, queue: string): Promise<void> {
  const held = await claimOne(store, T0 + MINUTE, { queue, attemptIds: ['att'] })
  const { token, attemptId } = held.lease!
  const lines = Array.from({ length: 6 }, (_, i) => {
    return { at: T0 + i, level: 'info', message: `line ${i}`, fields: null } as const
  })
  await store.report([{ jobId: held.id, token, fence: 1, attemptId, lines }], T0)
}

export function offsetTests(bench: UseBench): void {
  describe('a page with an offset', () => {
    it.each(queries)('leaves out so many first: %s', async (_, query) => {
      const { store } = bench()
      await fill(store)
      for (const newestFirst of [true, false]) {
        const all = await readAll(page => query(store, page), { limit: 100, newestFirst })
        expect(all.length).toBeGreaterThanOrEqual(3)
        for (const offset of [0, 1, 2, all.length - 1, all.length, all.length + 5]) {
          const page = await query(store, { limit: 2, newestFirst, offset })
          expect(page.items).toEqual(all.slice(offset, offset + 2))
          expect(page.cursor === null).toBe(offset + 2 >= all.length)
        }
      }
    })

    it.each(queries)('counts from its cursor: %s', async (_, query) => {
      const { store } = bench()
      await fill(store)
      const all = await readAll(page => query(store, page), { limit: 100, newestFirst: true })
      const { cursor } = await query(store, { limit: 1, newestFirst: true })
      const page = await query(store, { limit: 1, newestFirst: true, cursor, offset: 1 })
      expect(page.items).toEqual(all.slice(2, 3))
    })

    it.each(queries)('is refused beyond the maximum: %s', async (_, query) => {
      const { store } = bench()
      for (const offset of [limits.offsetMax + 1, -1, 1.5, Number.NaN]) {
        await expect(query(store, { limit: 1, offset })).rejects.toMatchObject({
          code: 'QUERY_INVALID',
          problems: [{ field: 'offset', value: offset }],
        })
      }
      const { items } = await query(store, { limit: 1, offset: limits.offsetMax })
      expect(items).toEqual([])
    })
  })
}
