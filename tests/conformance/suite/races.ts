// Two handles onto one store, as two processes have: at most one of them wins.

import { describe, expect, it } from 'vitest'
import { cancelJob } from '../../../src/core/control/control.ts'
import type { Job } from '../../../src/core/job.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  claimRequest,
  commitOne,
  job,
  makeIds,
  readAll,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const LEASE = 1_000

function leaseOf(held: Job) {
  return { id: held.id, token: held.lease!.token, fence: held.counters.fence }
}

function abandoned(held: Job, now: number) {
  const startedAt = held.lease!.claimedAt
  return settle(held, { outcome: { kind: 'abandoned' }, startedAt }, now)
}

function done(held: Job, now: number) {
  return settle(held, { outcome: succeeded, startedAt: T0 }, now)
}

/** Claims seven at a time until nothing is left. */
async function drain(store: Store, owner: string, ids: ReturnType<typeof makeIds>): Promise<Job[]> {
  const taken: Job[] = []
  for (;;) {
    const claimed = await store.claim(claimRequest({ owner, limit: 7 }, ids))
    if (claimed.length === 0) return taken
    taken.push(...claimed)
  }
}

export function raceTests(bench: UseBench): void {
  claimRaces(bench)
  leaseRaces(bench)
  writeRaces(bench)
}

function claimRaces(bench: UseBench): void {
  describe('two claimers', () => {
    it('never share a job and leave none behind', async () => {
      const { store, second } = bench()
      const other = await second()
      const lanes = ['a', 'b', 'c']
      const jobs = Array.from({ length: 200 }, (_, i) => job(`job-${i}`, { lane: lanes[i % 3]! }))
      await put(store, ...jobs)
      const ids = makeIds()
      const taken = await Promise.all([drain(store, 'one', ids), drain(other, 'two', ids)])
      const claimed = taken.flat()
      expect(new Set(claimed.map(held => held.id)).size).toBe(200)
      expect(claimed).toHaveLength(200)
      expect(claimed.every(held => held.counters.fence === 1)).toBe(true)
      for (const held of claimed) expect(held.lease).not.toBeNull()
    })

    it('of a single job: one gets it, the other nothing', async () => {
      const { store, second } = bench()
      const other = await second()
      await put(store, job('a'))
      const requests = [claimRequest({ owner: 'one' }), claimRequest({ owner: 'two' })]
      const results = await Promise.all([store.claim(requests[0]!), other.claim(requests[1]!)])
      expect(results.flat()).toHaveLength(1)
      expect(await stored(other, 'a')).toEqual(results.flat()[0])
    })
  })
}

function leaseRaces(bench: UseBench): void {
  describe('holder and reaper', () => {
    it('the reaper conflicts when the holder renewed after it looked', async () => {
      const { store, second } = bench()
      const reaper = await second()
      await put(store, job('a'))
      const held = await claimOne(store, T0, { leaseMs: LEASE })
      const [seen] = await reaper.overdue({ now: T0 + LEASE, limit: 1 })
      await store.renew({ leases: [leaseOf(held)], until: T0 + 2 * LEASE })
      const step = abandoned(seen!, T0 + LEASE)
      expect(await commitOne(reaper, step, T0 + LEASE)).toBe('conflict')
      expect(await stored(store, 'a')).toMatchObject({ state: 'running' })
    })

    it('the holder loses everything when the reaper came first', async () => {
      const { store, second } = bench()
      const reaper = await second()
      await put(store, job('a'))
      const held = await claimOne(store, T0, { leaseMs: LEASE })
      const now = T0 + LEASE
      const [seen] = await reaper.overdue({ now, limit: 1 })
      expect(await commitOne(reaper, abandoned(seen!, now), now)).toBe('committed')
      const again = await claimOne(reaper, now)
      expect(again.counters.fence).toBe(held.counters.fence + 1)
      const renewed = await store.renew({ leases: [leaseOf(held)], until: now + LEASE })
      expect(renewed).toMatchObject([{ isHeld: false }])
      expect(await commitOne(store, done(held, now), now)).toBe('conflict')
      const report = { ...leaseOf(held), jobId: 'a', attemptId: held.lease!.attemptId }
      expect(await store.report([{ ...report, checkpoint: 1 }], now)).toEqual([false])
      expect(await stored(store, 'a')).toEqual(again)
    })

    it('of two reapers one records the lost attempt', async () => {
      const { store, second } = bench()
      const other = await second()
      await put(store, job('a'))
      await claimOne(store, T0, { leaseMs: LEASE })
      const now = T0 + LEASE
      const seen = await Promise.all(
        [store, other].map(async handle => {
          const [late] = await handle.overdue({ now, limit: 1 })
          return { handle, late: late! }
        }),
      )
      const results = await Promise.all(
        seen.map(({ handle, late }) => commitOne(handle, abandoned(late, now), now)),
      )
      expect(results.sort()).toEqual(['committed', 'conflict'])
      expect(await readAll(page => store.attempts({ jobId: 'a' }, page))).toHaveLength(1)
    })

    it('a result and a cancel: one of them is the end of the run', async () => {
      const { store, second } = bench()
      const other = await second()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const results = await Promise.all([
        commitOne(store, done(held, T0), T0),
        commitOne(other, cancelJob(held, 'stop', T0), T0),
      ])
      expect([...results].sort()).toEqual(['committed', 'conflict'])
      const { state } = await stored(store, 'a')
      expect(state).toBe(results[0] === 'committed' ? 'completed' : 'cancelled')
      expect(await readAll(page => store.attempts({ jobId: 'a' }, page))).toHaveLength(1)
    })
  })
}

function writeRaces(bench: UseBench): void {
  describe('two writers', () => {
    it('of one id: one inserts it', async () => {
      const { store, second } = bench()
      const other = await second()
      const options = { now: T0 }
      const results = await Promise.all([
        store.insert([job('a', { name: 'one' })], options),
        other.insert([job('a', { name: 'two' })], options),
      ])
      expect(results.flatMap(one => one.results).sort()).toEqual(['exists', 'inserted'])
    })

    it('never overfill a bounded queue', async () => {
      const { store, second } = bench()
      const other = await second()
      const options = { now: T0, waitingMax: 7 }
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : other).insert([job(`job-${i}`)], options),
        ),
      )
      const results = answers.flatMap(answer => answer.results)
      expect(results.filter(result => result === 'inserted')).toHaveLength(7)
      expect(results.filter(result => result === 'full')).toHaveLength(13)
    })

    it('of one record version: one puts it', async () => {
      const { store, second } = bench()
      const other = await second()
      const write = { kind: 'k', key: 'a', value: 1, expectedVersion: 0, expireAt: null }
      const results = await Promise.all([
        store.putRecords([write], T0),
        other.putRecords([write], T0),
      ])
      expect(results.flat().sort()).toEqual(['conflict', 'put'])
    })

    it('see each other at once', async () => {
      const { store, second } = bench()
      const other = await second()
      await store.setQueuePaused('default', true)
      await put(store, job('a'))
      expect(await other.pausedQueues()).toEqual(['default'])
      expect(await other.claim(claimRequest())).toEqual([])
      await other.setQueuePaused('default', false)
      expect((await store.claim(claimRequest())).map(held => held.id)).toEqual(['a'])
    })
  })
}
