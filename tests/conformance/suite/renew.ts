// renew: extends the leases that still match and steps their version.

import { describe, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { claimOne, claimRequest, failed, finish, job, T0 } from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

function leaseOf(held: Job) {
  return { id: held.id, token: held.lease!.token, fence: held.counters.fence }
}

export function renewTests(bench: UseBench): void {
  describe('renew', () => {
    it('moves the end of the lease and steps the version, nothing else', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const results = await store.renew({ leases: [leaseOf(held)], until: T0 + 99_000 })
      expect(results).toEqual([{ id: 'a', isHeld: true, version: held.version + 1 }])
      expect(await stored(store, 'a')).toEqual({
        ...held,
        lease: { ...held.lease!, until: T0 + 99_000 },
        version: held.version + 1,
      })
    })

    it('answers for each lease in the order given', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const [a, b] = await store.claim(claimRequest({ limit: 2 }))
      const leases = [leaseOf(b!), { id: 'ghost', token: 'x', fence: 1 }, leaseOf(a!)]
      const results = await store.renew({ leases, until: T0 + 99_000 })
      expect(results.map(({ id, isHeld }) => [id, isHeld])).toEqual([
        ['b', true],
        ['ghost', false],
        ['a', true],
      ])
    })

    it.each([
      ['token', { token: 'other' }],
      ['fence', { fence: 2 }],
      ['fence below', { fence: 0 }],
    ])('leaves a lease of another %s alone', async (_, wrong) => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const lease = { ...leaseOf(held), ...wrong }
      const [result] = await store.renew({ leases: [lease], until: T0 + 99_000 })
      expect(result).toMatchObject({ id: 'a', isHeld: false })
      expect(await stored(store, 'a')).toEqual(held)
    })

    it('does not bring back a lease that was settled or claimed anew', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const first = await claimOne(store, T0, { token: 'same' })
      const waiting = await finish(store, first, failed({ retryAfterMs: 0 }), T0)
      const until = T0 + 99_000
      expect(await store.renew({ leases: [leaseOf(first)], until })).toMatchObject([
        { isHeld: false },
      ])
      expect(await stored(store, 'a')).toEqual(waiting)
      const again = await claimOne(store, T0, { token: 'same' })
      expect(await store.renew({ leases: [leaseOf(first)], until })).toMatchObject([
        { isHeld: false },
      ])
      expect(await stored(store, 'a')).toEqual(again)
    })

    it('renews a lease whose end has passed, as long as nobody took it', async () => {
      const { store, clock } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      clock.now = T0 + 3_600_000
      const until = clock.now + 15_000
      const [result] = await store.renew({ leases: [leaseOf(held)], until })
      expect(result!.isHeld).toBe(true)
      expect(await store.overdue({ now: clock.now, limit: 10 })).toEqual([])
    })

    it('does nothing for an empty list', async () => {
      expect(await bench().store.renew({ leases: [], until: T0 })).toEqual([])
    })
  })
  lookTests(bench)
}

function lookTests(bench: UseBench): void {
  describe('renew without an end', () => {
    it('only looks: the lease and the version stay', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const results = await store.renew({ leases: [leaseOf(held)], until: null })
      expect(results).toEqual([{ id: 'a', isHeld: true, version: held.version }])
      expect(await stored(store, 'a')).toEqual(held)
    })

    it('tells a holder that its job is gone or taken', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const [a, b] = await store.claim(claimRequest({ limit: 2 }))
      await store.remove(['a'])
      const leases = [leaseOf(a!), { ...leaseOf(b!), token: 'other' }]
      const results = await store.renew({ leases, until: null })
      expect(results.map(({ isHeld }) => isHeld)).toEqual([false, false])
    })
  })
}
