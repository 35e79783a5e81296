// ledger: one decision for every occurrence, made of the runs' attempts and the skips.

import { describe, expect, it } from 'vitest'
import { begin } from '../../../src/core/run/begin.ts'
import { change } from '../../../src/core/change.ts'
import type { Job } from '../../../src/core/job.ts'
import { kept } from '../../../src/core/history/kept.ts'
import type { Skip } from '../../../src/core/history/ledger.ts'
import { requestRun } from '../../../src/core/control/requests.ts'
import { settle } from '../../../src/core/run/settle.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { PageRequest, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  readAll,
  start,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const at = (minutes: number) => T0 + minutes * MINUTE

/** `run 0`, `skip 1-4 ×4 coalesced`: entries with moments in minutes from T0. */
async function ledgerOf(store: Store, page?: PageRequest): Promise<string[]> {
  const entries = await readAll(given => store.ledger('a', given), page)
  return entries.map(entry => {
    const [from, to] = [(entry.from - T0) / MINUTE, (entry.to - T0) / MINUTE]
    return entry.decision === 'run'
      ? `run ${from} #${entry.run}`
      : `skip ${from}-${to} ×${entry.count} ${entry.reason}`
  })
}

/** Runs at 0, is away until 5½, runs 5 until 8. */
async function busyHistory(store: Store): Promise<void> {
  await put(store, newJob({ id: 'a', now: at(-1), spec: everyMinute }))
  await finish(store, await claimOne(store, at(0)), succeeded, at(0))
  const running = await start(store, await claimOne(store, at(5.5)), at(5.5))
  const finished = { outcome: succeeded, startedAt: at(5.5) }
  await write(store, settle(running!, finished, at(8)), at(8))
}

const busyLedger = ['run 0 #1', 'skip 1-4 ×4 coalesced', 'run 5 #2', 'skip 6-8 ×3 overlap']

export function ledgerTests(bench: UseBench): void {
  unionTests(bench)
  openRunTests(bench)
  unkeptTests(bench)
  pageTests(bench)
}

function unkeptTests(bench: UseBench): void {
  it('is told by the end of a one-off that keeps no attempts', async () => {
    const { store } = bench()
    const retention = { attempts: 0, ageMs: 0 }
    const spec = { trigger: { kind: 'once', at: at(0) }, retention } as const
    await put(store, newJob({ id: 'a', now: at(-1), spec }))
    const running = await claimOne(store, at(1))
    const ended = settle(running, { outcome: succeeded, startedAt: at(1) }, at(2))
    await write(store, kept(ended), at(2))
    expect(await ledgerOf(store)).toEqual(['run 0 #1'])
    expect((await store.attempts({ jobId: 'a' }, { limit: 10 })).items).toEqual([])
    expect((await stored(store, 'a')).last).toMatchObject({ startedAt: at(1), finishedAt: at(2) })
  })
}

function unionTests(bench: UseBench): void {
  describe('the ledger', () => {
    it('unites runs and skips in the order of their moments', async () => {
      const { store } = bench()
      await busyHistory(store)
      expect(await ledgerOf(store)).toEqual(busyLedger)
    })

    it('holds full entries', async () => {
      const { store } = bench()
      await busyHistory(store)
      const [run, skip] = await readAll(page => store.ledger('a', page))
      expect(run).toEqual({
        decision: 'run',
        jobId: 'a',
        from: at(0),
        to: at(0),
        count: 1,
        run: 1,
      })
      expect(skip).toEqual({
        decision: 'skip',
        jobId: 'a',
        from: at(1),
        to: at(4),
        count: 4,
        reason: 'coalesced',
      })
    })

    it('has one entry for a run of several attempts', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', now: at(-1), spec: everyMinute }))
      const first = failed({ retryAfterMs: 1_000 })
      await finish(store, await claimOne(store, at(0)), first, at(0))
      expect(await ledgerOf(store)).toEqual(['run 0 #1'])
      await finish(store, await claimOne(store, at(0) + 1_000), succeeded, at(0) + 1_000)
      expect(await ledgerOf(store)).toEqual(['run 0 #1'])
    })

    it('knows nothing of runs that were asked for', async () => {
      const { store } = bench()
      const manual = job('a', onRequest)
      await put(store, manual)
      await write(store, requestRun(manual, { id: 'r' }, T0).change, T0)
      const running = await start(store, await claimOne(store, T0), T0)
      expect(await ledgerOf(store)).toEqual([])
      await write(store, settle(running!, { outcome: succeeded, startedAt: T0 }, T0), T0)
      expect(await ledgerOf(store)).toEqual([])
    })

    it('keeps the first of two skips from one moment', async () => {
      const { store } = bench()
      const held = job('a', everyMinute)
      await put(store, held)
      const skip: Skip = { jobId: 'a', from: at(1), to: at(2), count: 2, reason: 'paused' }
      const once = await write(store, change(held, held, T0, { skips: [skip] }), T0)
      const other: Skip = { ...skip, to: at(3), count: 3, reason: 'edited' }
      await write(store, change(once, once, T0, { skips: [other] }), T0)
      expect(await ledgerOf(store)).toEqual(['skip 1-2 ×2 paused'])
    })

    it('is ordered by moments, not by when they were written', async () => {
      const { store } = bench()
      let held: Job = job('a', everyMinute)
      await put(store, held)
      for (const minute of [5, 1, 3]) {
        const from = at(minute)
        const skip: Skip = { jobId: 'a', from, to: from, count: 1, reason: 'missed' }
        held = await write(store, change(held, held, T0, { skips: [skip] }), T0)
      }
      expect(await ledgerOf(store)).toEqual([1, 3, 5].map(m => `skip ${m}-${m} ×1 missed`))
    })

    it('of one job is not that of another', async () => {
      const { store } = bench()
      await busyHistory(store)
      expect((await store.ledger('ghost', { limit: 10 })).items).toEqual([])
      await put(store, job('b', everyMinute))
      expect((await store.ledger('b', { limit: 10 })).items).toEqual([])
    })
  })
}

function openRunTests(bench: UseBench): void {
  describe('the ledger of an unfinished run', () => {
    it('shows it as soon as it is claimed', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', now: at(-1), spec: everyMinute }))
      expect(await ledgerOf(store)).toEqual([])
      await claimOne(store, at(0))
      expect(await ledgerOf(store)).toEqual(['run 0 #1'])
    })

    it('shows it behind the skips it began with', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', now: at(-1), spec: everyMinute }))
      const first = begin(await claimOne(store, at(3)), at(3))
      await write(store, first.change!, at(3))
      expect(await ledgerOf(store)).toEqual(['skip 0-2 ×3 coalesced', 'run 3 #1'])
    })

    it('takes it back when the claim was given back', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', now: at(-1), spec: everyMinute }))
      await finish(store, await claimOne(store, at(0)), { kind: 'released' }, at(0))
      expect(await ledgerOf(store)).toEqual([])
      expect((await stored(store, 'a')).counters.runs).toBe(0)
    })
  })
}

function pageTests(bench: UseBench): void {
  describe('the ledger page by page', () => {
    it('has each entry once, in both directions', async () => {
      const { store } = bench()
      await busyHistory(store)
      for (const limit of [1, 2, 3, 4, 5]) {
        expect(await ledgerOf(store, { limit })).toEqual(busyLedger)
        const page = { limit, newestFirst: true }
        expect(await ledgerOf(store, page)).toEqual([...busyLedger].reverse())
      }
      expect((await store.ledger('a', { limit: 4 })).cursor).toBeNull()
      expect((await store.ledger('a', { limit: 3 })).cursor).not.toBeNull()
    })

    it('includes an open run on its page', async () => {
      const { store } = bench()
      await busyHistory(store)
      await claimOne(store, at(9))
      const expected = [...busyLedger, 'run 9 #3']
      for (const limit of [1, 2, 4, 5]) expect(await ledgerOf(store, { limit })).toEqual(expected)
    })
  })
}
