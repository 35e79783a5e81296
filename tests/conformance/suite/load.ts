// load: entries of another store, as they are; what is there already is compared.

import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/core/stored/entry.ts'
import { DAY, MINUTE } from '../../../src/core/time.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  claimRequest,
  everyMinute,
  finish,
  job,
  makeIds,
  newJob,
  readAll,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { dumpOf, fillRich, oddText, RICH_END, sorted } from '../../support/rich.ts'
import { openMemory } from '../../support/stores.ts'
import { allJobs, put, sortedCounts, type UseBench } from './bench.ts'

async function memory(): Promise<Store> {
  const opened = await openMemory(() => T0)
  return opened.store
}

/** What a store answers, where a dump does not show that it would. */
async function answers(store: Store) {
  const jobs = await allJobs(store)
  const ids = jobs.map(held => held.id)
  const tenants = await readAll(page => store.tenants(page))
  return {
    jobs,
    tenants,
    counts: sortedCounts(await store.counts()),
    ofTenants: await Promise.all(
      tenants.map(async ({ tenant }) => sortedCounts(await store.counts({ tenant }))),
    ),
    ledgers: await Promise.all(ids.map(id => readAll(page => store.ledger(id, page)))),
    attempts: await readAll(page => store.attempts({}, page)),
    byJob: await Promise.all(ids.map(jobId => readAll(page => store.attempts({ jobId }, page)))),
    progress: await Promise.all(ids.map(id => store.progress(id))),
    overdue: await store.overdue({ now: RICH_END + 9 * DAY, limit: 100 }),
    paused: await store.pausedQueues(),
    records: await store.getRecords('key', [oddText, 'twice'], T0),
    declared: (await store.list({ app: 'shop' }, { limit: 10 })).items,
    upcoming: await store.upcoming({ from: T0, until: RICH_END, limit: 100 }),
  }
}

export function loadTests(bench: UseBench): void {
  roundTrips(bench)
  workAfterwards(bench)
  idempotence(bench)
  refusals(bench)
}

function roundTrips(bench: UseBench): void {
  describe('load', () => {
    it('makes a store that tells and answers what the reference did', async () => {
      const { store } = bench()
      const source = await memory()
      await fillRich(source)
      const entries = await dumpOf(source)
      await store.maintenance.load(entries, T0)
      expect(sorted(await dumpOf(store))).toEqual(sorted(entries))
      expect(await answers(store)).toEqual(await answers(source))
    })

    it('makes a reference that tells and answers what the store did, entry by entry', async () => {
      const { store } = bench()
      const target = await memory()
      await fillRich(store)
      const entries = await dumpOf(store)
      for (const entry of entries) await target.maintenance.load([entry], T0)
      expect(sorted(await dumpOf(target))).toEqual(sorted(entries))
      expect(await answers(target)).toEqual(await answers(store))
    })

    it('takes many of each kind at once', async () => {
      const { store } = bench()
      const source = await memory()
      const jobs = Array.from({ length: 250 }, (_, i) => job(`job-${i}`, { lane: `l${i % 7}` }))
      await source.insert(jobs, { now: T0 })
      const claimed = await source.claim(claimRequest({ limit: 230 }))
      for (const held of claimed.slice(30)) await finish(source, held, succeeded, T0)
      const entries = await dumpOf(source, 1_000)
      await store.maintenance.load(entries, T0)
      expect(sorted(await dumpOf(store))).toEqual(sorted(entries))
      expect(await answers(store)).toEqual(await answers(source))
      expect(await store.overdue({ now: T0 + DAY, limit: 100 })).toHaveLength(30)
    })
  })
}

function workAfterwards(bench: UseBench): void {
  describe('after load', () => {
    it('claims take the same jobs, in the same order', async () => {
      const { store } = bench()
      const source = await memory()
      await fillRich(source)
      await store.maintenance.load(await dumpOf(source), T0)
      const ids = [makeIds(), makeIds()] as const
      for (let turn = 0; turn < 4; turn++) {
        const request = { queue: 'lanes', now: T0 + 500, limit: 3 }
        const expected = await source.claim(claimRequest(request, ids[0]))
        expect(await store.claim(claimRequest(request, ids[1]))).toEqual(expected)
      }
    })

    it('a live lease is renewed, fenced and settled as before', async () => {
      const { store } = bench()
      const source = await memory()
      await fillRich(source)
      await store.maintenance.load(await dumpOf(source), T0)
      const [held] = await store.get(['held'])
      const lease = { id: 'held', token: held!.lease!.token, fence: held!.counters.fence }
      const [renewed] = await store.renew({ leases: [lease], until: T0 + MINUTE })
      expect(renewed).toEqual({ id: 'held', isHeld: true, version: held!.version + 1 })
      expect(await store.overdue({ now: T0 + MINUTE - 1, limit: 9 })).toEqual([])
      const [late] = await store.overdue({ now: T0 + MINUTE, limit: 9 })
      await finish(store, late!, succeeded, T0 + MINUTE)
      expect(await store.overdue({ now: T0 + DAY, limit: 9 })).toEqual([])
    })

    it('attempts older than those pruned before expire too', async () => {
      const { store } = bench()
      const source = await memory()
      const spec = { ...everyMinute, retention: { attempts: 1, ageMs: 30 * DAY } }
      const ids = makeIds()
      for (const [held, id] of [
        [source, 'a'],
        [store, 'b'],
      ] as const) {
        await put(held, newJob({ id, spec }))
        for (let i = 1; i <= 3; i++) {
          const [claimed] = await held.claim(claimRequest({ now: T0 + i * MINUTE }, ids))
          await finish(held, claimed!, succeeded, T0 + i * MINUTE)
        }
      }
      const end = T0 + 31 * DAY
      await store.prune({ now: end, limit: 100, endedTasksMax: 9 })
      await store.maintenance.load(await dumpOf(source), T0)
      await store.prune({ now: end, limit: 100, endedTasksMax: 9 })
      const left = await readAll(page => store.attempts({ jobId: 'a' }, page))
      expect(left.map(({ number }) => number)).toEqual([3])
    })

    it('numbers go on where they were', async () => {
      const { store } = bench()
      const source = await memory()
      await put(source, newJob({ id: 'a', now: T0, spec: everyMinute }))
      const first = await claimOne(source, T0 + MINUTE)
      await finish(source, first, succeeded, T0 + MINUTE)
      await store.maintenance.load(await dumpOf(source), T0)
      await put(store, job('b', { queue: 'other' }))
      const next = await claimOne(store, T0 + 2 * MINUTE)
      expect(next.counters).toEqual({ runs: 1, attempts: 2, fence: 2, concluded: 1 })
      await finish(store, next, succeeded, T0 + 2 * MINUTE)
      const ledger = await readAll(page => store.ledger('a', page))
      expect(ledger.map(({ from }) => from)).toEqual([T0 + MINUTE, T0 + 2 * MINUTE])
      expect((await allJobs(store)).map(({ id }) => id)).toEqual(['a', 'b'])
    })
  })
}

function idempotence(bench: UseBench): void {
  describe('load again', () => {
    it('leaves what is there with the same content', async () => {
      const { store } = bench()
      const source = await memory()
      await fillRich(source)
      const entries = await dumpOf(source)
      const half = Math.floor(entries.length / 2)
      await store.maintenance.load(entries.slice(0, half), T0)
      await store.maintenance.load(entries, T0)
      const once = await answers(store)
      await store.maintenance.load(entries, T0)
      expect(await answers(store)).toEqual(once)
      expect(once).toEqual(await answers(source))
      await store.maintenance.load([], T0)
    })
  })
}

function altered(entry: Entry): Entry {
  switch (entry.type) {
    case 'queue':
      return { ...entry, isPaused: !entry.isPaused, lane: `${entry.lane}x` }
    case 'job':
      return { ...entry, job: { ...entry.job, version: entry.job.version + 1 } }
    case 'attempt':
      return { ...entry, attempt: { ...entry.attempt, result: 'another' } }
    case 'skip':
      return { ...entry, expireAt: entry.expireAt + 1 }
    case 'progress':
      return { ...entry, progress: { ...entry.progress, fraction: 0.75 } }
    case 'log':
      return { ...entry, line: { ...entry.line, message: 'another' } }
    case 'pruned':
      return { ...entry, count: entry.count + 1 }
    case 'record':
      return { ...entry, record: { ...entry.record, version: entry.record.version + 1 } }
  }
}

function refusals(bench: UseBench): void {
  describe('load of something else', () => {
    it('is refused for every type of entry, and changes nothing', async () => {
      const { store } = bench()
      await fillRich(store)
      const before = await dumpOf(store)
      const types = new Set<string>()
      const fresh: Entry = { type: 'job', job: job('fresh') }
      for (const entry of before) {
        if (types.has(entry.type)) continue
        types.add(entry.type)
        const loading = store.maintenance.load([fresh, altered(entry)], T0)
        await expect(loading).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' })
      }
      expect(types.size).toBe(8)
      expect(await dumpOf(store)).toEqual(before)
    })

    it('is refused for an attempt whose number is another one’s', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      const [made] = await readAll(page => store.attempts({}, page))
      const other: Entry = { type: 'attempt', attempt: { ...made!, id: 'att-other' } }
      await expect(store.maintenance.load([other], T0)).rejects.toMatchObject({
        code: 'STORE_NOT_EMPTY',
      })
    })

    it('is refused for what belongs to a job that is not there', async () => {
      const { store } = bench()
      const source = await memory()
      await fillRich(source)
      const types = new Set<string>()
      for (const entry of await dumpOf(source)) {
        const isPart = ['attempt', 'skip', 'progress', 'log'].includes(entry.type)
        if (!isPart || types.has(entry.type)) continue
        types.add(entry.type)
        const loading = store.maintenance.load([entry], T0)
        await expect(loading).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
      }
      expect(types.size).toBe(4)
      expect(await dumpOf(store)).toEqual([])
    })
  })
}
