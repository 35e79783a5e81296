// attempts by what their jobs are and by when they finished: across jobs, newest first.

import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../../src/core/attempt.ts'
import { change } from '../../../src/core/change.ts'
import { attemptEntry } from '../../../src/core/stored/entry.ts'
import { limits } from '../../../src/core/limits.ts'
import type { AttemptFilter, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  readAll,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

/** One attempt of each of four jobs, finished a minute after another. */
async function history(store: Store): Promise<void> {
  const make = [
    newJob({ id: 'a', spec: { tenant: 't1' } }),
    newJob({ id: 'b', spec: { tenant: 't2', queue: 'x' } }),
    newJob({ id: 'c', kind: 'task', seriesId: 's', spec: { tenant: 't1', queue: 'x' } }),
    newJob({ id: 'd', spec: { tenant: 't2', handler: 'h' } }),
  ]
  for (const [i, held] of make.entries()) {
    await put(store, held)
    const { queue, handler } = held.spec
    const now = T0 + i
    const claimed = await claimOne(store, now, { queue, handlers: [handler] })
    await finish(store, claimed, i === 1 ? failed({ final: true }) : succeeded, now)
  }
}

const cases: [string, AttemptFilter, string[]][] = [
  ['tenant', { tenant: 't1' }, ['c', 'a']],
  ['queue', { queue: 'x' }, ['c', 'b']],
  ['handler', { handler: 'h' }, ['d']],
  ['series', { seriesId: 's' }, ['c']],
  ['the first moment', { since: T0 + 1 }, ['d', 'c', 'b']],
  ['the moment after the last', { until: T0 + 2 }, ['b', 'a']],
  ['both moments', { since: T0 + 1, until: T0 + 3 }, ['c', 'b']],
  ['a moment with nothing', { since: T0 + 4 }, []],
  ['tenant and queue', { tenant: 't1', queue: 'x' }, ['c']],
  ['tenant and outcome', { tenant: 't2', outcomes: ['failed'] }, ['b']],
  ['tenant and run', { tenant: 't2', run: 1 }, ['d', 'b']],
  ['job and tenant', { jobId: 'a', tenant: 't1' }, ['a']],
  ['job of another tenant', { jobId: 'a', tenant: 't2' }, []],
  ['job and moment', { jobId: 'a', since: T0 + 1 }, []],
  ['what nobody has', { tenant: 'nobody' }, []],
]

const timesOf = ({ id, jobId, run, attempt, number, origin, occurrence, ...rest }: Attempt) => {
  const { owner, claimedAt, startedAt, finishedAt, outcome } = rest
  const first = { id, jobId, run, attempt, number, origin, occurrence }
  return { ...first, owner, claimedAt, startedAt, finishedAt, outcome }
}

export function attemptsOfManyTests(bench: UseBench): void {
  const found = (filter: AttemptFilter, page = { limit: 100, newestFirst: true }) =>
    readAll(given => bench().store.attempts(filter, given), page)

  describe('attemptTimes', () => {
    it('gives of the same attempts what they are counted by', async () => {
      const { store } = bench()
      await history(store)
      for (const [, filter] of cases) {
        for (const newestFirst of [true, false]) {
          const page = { limit: 2, newestFirst }
          const times = await readAll(given => store.attemptTimes(filter, given), page)
          expect(times).toMatchObject((await found(filter, page)).map(timesOf))
        }
      }
      expect(await readAll(given => store.attemptTimes({}, given), { limit: 9 })).toHaveLength(4)
    })

    it('reads owners and results with quotes, braces and backslashes in them', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const owner = 'node "a" {b} \\\\ [c], é'
      const claimed = await claimOne(store, T0, { owner })
      const result = { text: ']"}', list: ['"', { a: '\\' }] }
      await finish(store, claimed, { kind: 'succeeded', result, measures: null }, T0)
      const [attempt] = await found({})
      const { items } = await store.attemptTimes({}, { limit: 9 })
      expect(attempt).toMatchObject({ result })
      expect(items).toMatchObject([timesOf(attempt!)])
    })
  })

  describe('attempts of many jobs', () => {
    it.each(cases)('are found by %s, in both directions', async (_, filter, expected) => {
      const { store } = bench()
      await history(store)
      expect((await found(filter)).map(held => held.jobId)).toEqual(expected)
      const one = await found(filter, { limit: 1, newestFirst: true })
      expect(one.map(held => held.jobId)).toEqual(expected)
      const up = await found(filter, { limit: 1, newestFirst: false })
      expect(up.map(held => held.jobId)).toEqual([...expected].reverse())
    })

    it('are not found by the id of one of another tenant', async () => {
      const { store } = bench()
      await history(store)
      const [attempt] = await found({ jobId: 'a' })
      expect(await found({ id: attempt!.id, tenant: 't1' })).toEqual([attempt])
      expect(await found({ id: attempt!.id, tenant: 't2' })).toEqual([])
    })

    it('go with their job', async () => {
      const { store } = bench()
      await history(store)
      await store.remove(['c'])
      expect((await found({ tenant: 't1' })).map(held => held.jobId)).toEqual(['a'])
    })

    it('are sought by moment only as far back as a timeout lasts', async () => {
      const { store } = bench()
      await put(store, job('a', onRequest))
      const longest = limits.timeoutMsMax
      const claims = [T0 - longest - 1, T0 - longest, T0 - 1]
      for (const [i, claimedAt] of claims.entries()) {
        await appendLong(store, { id: `att-${i}`, number: i + 1, claimedAt })
      }
      expect((await found({ since: T0 })).map(held => held.id)).toEqual(['att-2', 'att-1'])
      expect(await found({ until: T0 + 1 })).toHaveLength(3)
    })

    it('have ids of every kind of character, and their order', async () => {
      const { store } = bench()
      await put(store, job('a', onRequest))
      const ids = ["o'clock", 'say "so"', 'a\\b', 'ünïcode 😀', '50%', 'A', 'a', '\u0001', '\uffff']
      for (const [i, id] of ids.entries()) {
        await appendLong(store, { id, number: i + 1, claimedAt: T0 })
      }
      const up = await found({ since: T0 }, { limit: 2, newestFirst: false })
      expect(up.map(held => held.id)).toEqual([...ids].sort())
      const down = await found({ since: T0 })
      expect(down.map(held => held.id)).toEqual([...ids].sort().reverse())
    })

    it('are found where few of very many fit, each once', async () => {
      const { store } = bench()
      await put(store, job('a', onRequest))
      const all = Array.from({ length: 1_300 }, (_, i) => {
        const id = `att-${String(i).padStart(4, '0')}`
        return { ...attemptOf({ id, number: i + 1, claimedAt: T0 }), finishedAt: T0 + (i % 100) }
      })
      for (let at = 0; at < all.length; at += limits.pageMax) {
        await store.maintenance.load(all.slice(at, at + limits.pageMax).map(attemptEntry), T0)
      }
      const last = all.filter(({ finishedAt }) => finishedAt === T0 + 99).map(({ id }) => id)
      const up = await found({ since: T0 + 99 }, { limit: 5, newestFirst: false })
      expect(up.map(held => held.id)).toEqual(last)
      const down = await found({ since: T0 + 99 }, { limit: 5, newestFirst: true })
      expect(down.map(held => held.id)).toEqual([...last].reverse())
      const most = await found({ since: T0 + 1 }, { limit: 200, newestFirst: true })
      expect(most).toHaveLength(1_287)
    })
  })
}

interface Given {
  readonly id: string
  readonly number: number
  readonly claimedAt: number
}

/** An attempt that finished at T0, whenever it was claimed. */
async function appendLong(store: Store, given: Given): Promise<void> {
  const held = await stored(store, 'a')
  await store.commit([change(held, held, T0, { attempt: attemptOf(given) })], { now: T0 })
}

function attemptOf(given: Given): Attempt {
  return {
    jobId: 'a',
    run: given.number,
    attempt: 1,
    fence: given.number,
    retries: 0,
    origin: 'manual',
    retryOf: null,
    occurrence: given.claimedAt,
    missed: 0,
    owner: 'node-1',
    startedAt: given.claimedAt,
    finishedAt: T0,
    outcome: 'succeeded',
    reason: null,
    error: null,
    result: null,
    measures: null,
    expireAt: T0 + 1e9,
    ...given,
  }
}
