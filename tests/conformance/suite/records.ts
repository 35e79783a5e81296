// Records: small keyed values, written when their version is the expected one.

import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/core/json.ts'
import { BEAT_KIND, beatWrite } from '../../../src/core/run/owner.ts'
import type { RecordWrite, StoredRecord } from '../../../src/core/record.ts'
import type { Store } from '../../../src/store/port.ts'
import { readAll, T0 } from '../../support/builders.ts'
import type { UseBench } from './bench.ts'

function record(key: string, more: Partial<RecordWrite> = {}): RecordWrite {
  return { kind: 'k', key, value: 'v', expectedVersion: null, expireAt: null, ...more }
}

async function held(store: Store, key = 'a', now = T0): Promise<StoredRecord | undefined> {
  return (await store.getRecords('k', [key], now))[0]
}

export function recordTests(bench: UseBench): void {
  versionTests(bench)
  readTests(bench)
  expiryTests(bench)
  beatTests(bench)
}

function versionTests(bench: UseBench): void {
  describe('putRecords', () => {
    it('with version 0 creates, and conflicts with what is there', async () => {
      const { store } = bench()
      expect(await store.putRecords([record('a', { expectedVersion: 0 })], T0)).toEqual(['put'])
      const other = record('a', { expectedVersion: 0, value: 'other' })
      expect(await store.putRecords([other], T0)).toEqual(['conflict'])
      expect(await held(store)).toEqual({
        kind: 'k',
        key: 'a',
        value: 'v',
        version: 1,
        expireAt: null,
      })
    })

    it('with a version replaces exactly that one', async () => {
      const { store } = bench()
      await store.putRecords([record('a')], T0)
      const next = record('a', { expectedVersion: 1, value: 'two', expireAt: T0 + 9 })
      expect(await store.putRecords([next], T0)).toEqual(['put'])
      expect(await held(store)).toMatchObject({ value: 'two', version: 2, expireAt: T0 + 9 })
      expect(await store.putRecords([next], T0)).toEqual(['conflict'])
      const early = record('b', { expectedVersion: 1 })
      expect(await store.putRecords([early], T0)).toEqual(['conflict'])
      expect(await held(store, 'b')).toBeUndefined()
    })

    it('with no version writes whatever is there', async () => {
      const { store } = bench()
      expect(await store.putRecords([record('a'), record('a')], T0)).toEqual(['put', 'put'])
      expect(await held(store)).toMatchObject({ version: 2 })
    })

    it('answers for each write by itself, in the order given', async () => {
      const { store } = bench()
      const writes = [
        record('a', { expectedVersion: 3 }),
        record('b', { expectedVersion: 0 }),
        record('b', { expectedVersion: 0 }),
        record('b', { expectedVersion: 1, value: 'end' }),
      ]
      const expected = ['conflict', 'put', 'conflict', 'put']
      expect(await store.putRecords(writes, T0)).toEqual(expected)
      expect(await held(store, 'b')).toMatchObject({ value: 'end', version: 2 })
      expect(await store.putRecords([], T0)).toEqual([])
    })

    it('removes when asked, under the same rule', async () => {
      const { store } = bench()
      await store.putRecords([record('a')], T0)
      const remove = record('a', { value: null, remove: true, expectedVersion: 2 })
      expect(await store.putRecords([remove], T0)).toEqual(['conflict'])
      expect(await store.putRecords([{ ...remove, expectedVersion: 1 }], T0)).toEqual(['put'])
      expect(await held(store)).toBeUndefined()
      expect(await store.putRecords([{ ...remove, expectedVersion: null }], T0)).toEqual(['put'])
      expect(await store.putRecords([record('a', { expectedVersion: 0 })], T0)).toEqual(['put'])
    })

    it('begins again at version 1 once the record was removed', async () => {
      const { store } = bench()
      await store.putRecords([record('a'), record('a')], T0)
      await store.putRecords([record('a', { remove: true })], T0)
      expect(await store.putRecords([record('a', { expectedVersion: 2 })], T0)).toEqual([
        'conflict',
      ])
      await store.putRecords([record('a')], T0)
      expect(await held(store)).toMatchObject({ version: 1 })
    })

    it('keeps null apart from nothing', async () => {
      const { store } = bench()
      await store.putRecords([record('a', { value: null })], T0)
      expect(await held(store)).toMatchObject({ value: null, version: 1 })
    })

    it('keeps kinds apart', async () => {
      const { store } = bench()
      await store.putRecords([record('a'), record('a', { kind: 'other', value: 2 })], T0)
      expect(await held(store)).toMatchObject({ value: 'v', version: 1 })
      expect(await store.getRecords('third', ['a'], T0)).toEqual([])
    })
  })
}

const values: [string, Json][] = [
  ['a number', 0.1],
  ['a text', 'it\'s "ö" 😀 \n'],
  ['a truth value', false],
  ['nested data', { '': [1, { deep: [null, []] }], large: Number.MAX_SAFE_INTEGER }],
]

function readTests(bench: UseBench): void {
  describe('records', () => {
    it.each(values)('may hold %s', async (_, value) => {
      const { store, second } = bench()
      await store.putRecords([record('a', { value, expireAt: T0 + 1 })], T0)
      expect(await held(await second())).toEqual({
        kind: 'k',
        key: 'a',
        value,
        version: 1,
        expireAt: T0 + 1,
      })
    })

    it('are read by key, those that exist', async () => {
      const { store } = bench()
      await store.putRecords([record('a'), record('b'), record('c')], T0)
      const found = await store.getRecords('k', ['c', 'ghost', 'a'], T0)
      expect(found.map(given => given.key).sort()).toEqual(['a', 'c'])
      expect(await store.getRecords('k', [], T0)).toEqual([])
    })

    it('are listed in the order of keys, page by page, in both directions', async () => {
      const { store } = bench()
      const keys = ['B', 'a', 'a1', 'b', 'ü', '10', '9']
      await store.putRecords(
        keys.map(key => record(key)),
        T0,
      )
      await store.putRecords([record('x', { kind: 'other' })], T0)
      const sorted = ['10', '9', 'B', 'a', 'a1', 'b', 'ü']
      for (const limit of [1, 3, 7, 8]) {
        const read = await readAll(page => store.listRecords('k', page, T0), { limit })
        expect(read.map(given => given.key)).toEqual(sorted)
        const page = { limit, newestFirst: true }
        const back = await readAll(given => store.listRecords('k', given, T0), page)
        expect(back.map(given => given.key)).toEqual([...sorted].reverse())
      }
      expect((await store.listRecords('k', { limit: 7 }, T0)).cursor).toBeNull()
      expect((await store.listRecords('ghost', { limit: 7 }, T0)).items).toEqual([])
    })
  })
}

function expiryTests(bench: UseBench): void {
  describe('an expired record', () => {
    it('is no longer read, from its very end on', async () => {
      const { store } = bench()
      await store.putRecords([record('a', { expireAt: T0 + 10 }), record('b')], T0)
      expect(await held(store, 'a', T0 + 9)).toBeDefined()
      expect(await held(store, 'a', T0 + 10)).toBeUndefined()
      const listed = await readAll(page => store.listRecords('k', page, T0 + 10))
      expect(listed.map(given => given.key)).toEqual(['b'])
    })

    it('counts as not there for a writer', async () => {
      const { store } = bench()
      await store.putRecords([record('a', { expireAt: T0 + 10 })], T0)
      const replace = record('a', { expectedVersion: 1 })
      const create = record('a', { expectedVersion: 0, value: 'fresh' })
      expect(await store.putRecords([create], T0 + 9)).toEqual(['conflict'])
      expect(await store.putRecords([replace], T0 + 10)).toEqual(['conflict'])
      expect(await store.putRecords([create], T0 + 10)).toEqual(['put'])
      expect(await held(store, 'a', T0 + 10)).toMatchObject({ value: 'fresh', expireAt: null })
    })

    it('gives way to a new one of version 1, pruned or not', async () => {
      const { store } = bench()
      for (const key of ['a', 'b']) {
        await store.putRecords([record(key), record(key, { expireAt: T0 + 10 })], T0)
      }
      await store.putRecords([record('a')], T0 + 10)
      expect(await held(store, 'a', T0 + 10)).toMatchObject({ version: 1 })
      await store.prune({ now: T0 + 10, limit: 9, endedTasksMax: 9 })
      await store.putRecords([record('b')], T0 + 10)
      expect(await held(store, 'b', T0 + 10)).toMatchObject({ version: 1 })
      expect(await held(store, 'a', T0 + 10)).toMatchObject({ version: 1 })
    })

    it('does not fill a page', async () => {
      const { store } = bench()
      const writes = ['a', 'b', 'c', 'd'].map((key, i) =>
        record(key, { expireAt: i % 2 === 0 ? T0 + 1 : null }),
      )
      await store.putRecords(writes, T0)
      const page = await store.listRecords('k', { limit: 2 }, T0 + 1)
      expect(page.items.map(given => given.key)).toEqual(['b', 'd'])
      expect(page.cursor).toBeNull()
    })
  })
}

function beatTests(bench: UseBench): void {
  describe('a stamped write', () => {
    it('is always written, among others that keep their order', async () => {
      const { store, clock } = bench()
      const beat = beatWrite('web-1~00c0ffee', 60_000)
      const taken = record('a', { expectedVersion: 0 })
      expect(await store.putRecords([taken, beat, taken, beat], clock.now)).toEqual([
        'put',
        'put',
        'conflict',
        'put',
      ])
    })

    it("keeps the store's own time under the owner's name, and replaces it", async () => {
      const { store, clock } = bench()
      const read = async () => (await store.getRecords(BEAT_KIND, ['web-1~00c0ffee'], clock.now))[0]
      await store.putRecords([beatWrite('web-1~00c0ffee', 60_000)], clock.now)
      const first = await store.now()
      expect(await read()).toMatchObject({ value: first, expireAt: first + 60_000 })
      clock.now += 5_000
      await store.putRecords([beatWrite('web-1~00c0ffee', 60_000)], clock.now)
      expect(await read()).toMatchObject({ value: first + 5_000, expireAt: first + 65_000 })
      clock.now += 60_000
      expect(await read()).toBeUndefined()
    })
  })
}
