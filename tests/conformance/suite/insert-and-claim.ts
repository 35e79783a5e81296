// An insert with a claim: both in one step, as if one came after the other.

import { describe, expect, it } from 'vitest'
import type { RecordWrite } from '../../../src/core/record.ts'
import { LANE_KIND } from '../../../src/core/fairness/lane.ts'
import { claimRequest, failed, finish, job, succeeded, T0 } from '../../support/builders.ts'
import { put, sortedCounts, stored, type UseBench } from './bench.ts'

const at = { now: T0 }
const once = (moment: number) => ({ trigger: { kind: 'once', at: moment } }) as const

export function insertAndClaimTests(bench: UseBench): void {
  whatIsGiven(bench)
  whatIsWritten(bench)
}

function whatIsGiven(bench: UseBench): void {
  describe('insert and claim gives', () => {
    it('the jobs it inserted, if they are due', async () => {
      const { store } = bench()
      const jobs = [job('a'), job('later', once(T0 + 1)), job('b')]
      const both = await store.insert(jobs, { ...at, claim: claimRequest({ limit: 3 }) })
      expect(both.results).toEqual(['inserted', 'inserted', 'inserted'])
      expect(both.claimed.map(({ id }) => id).sort()).toEqual(['a', 'b'])
      expect((await stored(store, 'later')).state).toBe('waiting')
    })

    it('whatever is its turn, not what was inserted last', async () => {
      const { store } = bench()
      await put(store, job('first', { lane: 'a' }), job('second', { lane: 'a' }))
      const both = await store.insert([job('other', { lane: 'b' })], {
        ...at,
        claim: claimRequest({ limit: 2 }),
      })
      expect(both.results).toEqual(['inserted'])
      expect(both.claimed.map(({ id }) => id)).toEqual(['first', 'other'])
      expect((await stored(store, 'second')).state).toBe('waiting')
    })

    it('what is due, when nothing was inserted', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const again = await store.insert([job('a', { name: 'n' })], { ...at, claim: claimRequest() })
      expect(again.results).toEqual(['exists'])
      expect(again.claimed.map(({ id, spec }) => [id, spec.name])).toEqual([['a', 'work']])
      await put(store, job('b'))
      const none = await store.insert([], { ...at, claim: claimRequest() })
      expect(none.results).toEqual([])
      expect(none.claimed.map(({ id }) => id)).toEqual(['b'])
    })

    it('nothing from a paused queue, without handlers or for no limit', async () => {
      const { store } = bench()
      await store.setQueuePaused('held', true)
      const paused = claimRequest({ queue: 'held' })
      const held = await store.insert([job('a', { queue: 'held' })], { ...at, claim: paused })
      expect(held).toEqual({ results: ['inserted'], claimed: [] })
      const mute = await store.insert([job('b')], { ...at, claim: claimRequest({ handlers: [] }) })
      expect(mute).toEqual({ results: ['inserted'], claimed: [] })
      const small = await store.insert([job('c')], { ...at, claim: claimRequest({ limit: 0 }) })
      expect(small).toEqual({ results: ['inserted'], claimed: [] })
    })

    it('what the rules of its lanes allow', async () => {
      const { store } = bench()
      const rule = { kind: LANE_KIND, key: 'a', value: { runningMax: 1 } }
      await store.putRecords([{ ...rule, expectedVersion: null, expireAt: null }], T0)
      const jobs = [job('a', { lane: 'a' }), job('b', { lane: 'a' }), job('c', { lane: 'c' })]
      const request = claimRequest({ limit: 3, hasLimits: true })
      const { claimed } = await store.insert(jobs, { ...at, claim: request })
      expect(claimed.map(({ id }) => id)).toEqual(['a', 'c'])
    })
  })
}

function whatIsWritten(bench: UseBench): void {
  describe('insert and claim writes', () => {
    it.each([1, 2])('the same as one after the other, for %i', async count => {
      const { store, second } = bench()
      const request = claimRequest({ limit: 2 })
      const jobs = ['a', 'b'].slice(0, count).map(id => job(id))
      const { claimed } = await store.insert(jobs, { ...at, claim: request })
      expect(claimed).toHaveLength(count)
      for (const held of claimed) {
        expect(held.state).toBe('running')
        expect(held.lease).toMatchObject({ token: request.token, claimedAt: T0 })
        expect(held.counters).toMatchObject({ attempts: 1, fence: 1 })
        expect(held).toMatchObject({ dueAt: null, version: 2, revision: 1 })
        expect(await stored(store, held.id)).toEqual(held)
        expect(await stored(await second(), held.id)).toEqual(held)
      }
      const counts = sortedCounts(await store.counts())
      expect(counts.map(found => [found.state, found.count])).toEqual([['running', count]])
    })

    it('leases that can be settled', async () => {
      const { store } = bench()
      const request = claimRequest({ limit: 2 })
      const { claimed } = await store.insert([job('a'), job('b')], { ...at, claim: request })
      const [first, other] = claimed
      await finish(store, first!, succeeded, T0 + 10)
      await finish(store, other!, failed(), T0 + 10)
      expect((await stored(store, first!.id)).state).toBe('completed')
      expect(await store.overdue({ now: T0 + 60_000, limit: 9 })).toEqual([])
    })

    it('a lease of a single job that ends as any other, and its spec as it was given', async () => {
      const { store, second } = bench()
      const request = claimRequest({ token: 'alone' })
      const { claimed } = await store.insert([job('a')], { ...at, claim: request })
      const until = claimed[0]!.lease!.until
      const lapsed = await store.overdue({ now: until, limit: 9 })
      expect(lapsed.map(({ id }) => id)).toEqual(['a'])
      await finish(await second(), claimed[0]!, failed(), T0 + 10)
      const back = await stored(store, 'a')
      expect(back).toMatchObject({ state: 'waiting', lease: null, version: 3 })
      expect(back.spec).toEqual(claimed[0]!.spec)
    })

    it('no more waiting jobs than there may be, counted before the claim', async () => {
      const { store } = bench()
      const full = { now: T0, waitingMax: 1 }
      const both = await store.insert([job('a'), job('b')], { ...full, claim: claimRequest() })
      expect(both.results).toEqual(['inserted', 'full'])
      expect(both.claimed.map(({ id }) => id)).toEqual(['a'])
      const next = await store.insert([job('c')], { ...full, claim: claimRequest() })
      expect(next.results).toEqual(['inserted'])
    })

    it('no job where a record conflicts, and still gives what is due', async () => {
      const { store } = bench()
      const taken: RecordWrite = {
        kind: 'k',
        key: 'taken',
        value: 'v',
        expectedVersion: 0,
        expireAt: null,
      }
      await store.putRecords([taken], T0)
      await put(store, job('due'))
      const options = { now: T0, records: [taken] }
      const both = await store.insert([job('a')], { ...options, claim: claimRequest({ limit: 2 }) })
      expect(both.results).toEqual(['conflict'])
      expect(both.claimed.map(({ id }) => id)).toEqual(['due'])
      expect(await store.get(['a'])).toEqual([])
    })

    it('each job once, whoever else inserts and claims', async () => {
      const { store, second } = bench()
      const stores = [store, await second(), await second()]
      const both = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          stores[i % 3]!.insert([job(`j${i}`)], { ...at, claim: claimRequest({ limit: 2 }) }),
        ),
      )
      const rest = await store.claim(claimRequest({ limit: 30 }))
      const ids = [...both.flatMap(({ claimed }) => claimed), ...rest].map(({ id }) => id)
      expect(ids.sort()).toEqual(Array.from({ length: 30 }, (_, i) => `j${i}`).sort())
    })
  })
}
