// list and count by status: what waits for its start, what has begun, what rests and what ended.

import { describe, expect, it } from 'vitest'
import { cancelJob, retryJob } from '../../../src/core/control/control.ts'
import type { State } from '../../../src/core/job.ts'
import { pauseJob, resumeJob } from '../../../src/core/control/pause.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { JobFilter, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

const later = { trigger: { kind: 'once', at: T0 + 9 * MINUTE } } as const

/** Two of every kind: one of each tenant. */
async function jobsOfEveryStatus(store: Store): Promise<void> {
  for (const tenant of ['t1', 't2']) {
    const place = { tenant, queue: tenant }
    const named = (name: string) => `${name}-${tenant}`
    const claim = () => claimOne(store, T0, { queue: tenant })
    await put(store, job(named('completed'), place))
    await finish(store, await claim(), succeeded, T0)
    await put(store, job(named('failed'), place))
    await finish(store, await claim(), failed({ final: true }), T0)
    await put(store, job(named('running'), place))
    await claim()
    const every = { ...place, ...everyMinute }
    await put(store, job(named('paused'), every), job(named('cancelled'), every))
    const [paused, cancelled] = await store.get([named('paused'), named('cancelled')])
    await write(store, pauseJob(paused!, {}, T0), T0)
    await write(store, cancelJob(cancelled!, 'enough', T0), T0)
    await put(store, job(named('scheduled'), every), job(named('pending'), { ...place, ...later }))
    const task = newJob({ id: named('task'), kind: 'task', spec: { ...place, ...later } })
    await put(store, task)
  }
}

const questions: [string, readonly State[], boolean | undefined][] = [
  ['pending', ['waiting'], true],
  ['scheduled', ['waiting'], false],
  ['scheduled pending', ['waiting'], undefined],
  ['running', ['running'], undefined],
  ['paused', ['paused'], undefined],
  ['completed', ['completed'], undefined],
  ['failed', ['failed'], undefined],
  ['cancelled', ['cancelled'], undefined],
  ['paused failed', ['paused', 'failed', 'paused'], undefined],
  ['completed failed running pending', ['completed', 'failed', 'running', 'waiting'], true],
]

async function found(store: Store, filter: JobFilter): Promise<string[]> {
  const page = { limit: 1, newestFirst: true }
  const whole = await readAll(given => store.list(filter, given), page)
  const ids = whole.map(({ id }) => id)
  expect(await store.count(filter, 100)).toBe(ids.length)
  const back = await readAll(given => store.list(filter, given), { limit: 2 })
  expect(back.map(({ id }) => id).toReversed()).toEqual(ids)
  const behind = await store.list(filter, { limit: 100, newestFirst: true, offset: 1 })
  expect(behind.items.map(({ id }) => id)).toEqual(ids.slice(1))
  return ids
}

export function listStatusTests(bench: UseBench): void {
  describe('list and count by status', () => {
    it.each(questions)('%s', async (names, states, isUnstarted) => {
      const { store } = bench()
      await jobsOfEveryStatus(store)
      const wanted = { kind: 'job', states, ...(isUnstarted === undefined ? {} : { isUnstarted }) }
      const filter = wanted as JobFilter
      const of = (tenant: string) => names.split(' ').map(name => `${name}-${tenant}`)
      const all = await found(store, filter)
      expect(all.toSorted()).toEqual([...of('t1'), ...of('t2')].toSorted())
      for (const place of [{ tenant: 't1' }, { queue: 't1' }]) {
        const own = await found(store, { ...filter, ...place })
        expect(own).toEqual(all.filter(id => id.endsWith('t1')))
      }
      expect(await found(store, { ...filter, tenant: 'nobody' })).toEqual([])
    })

    it('follows a job through its life', async () => {
      const { store } = bench()
      const statusOf = async () => {
        const seen: string[] = []
        for (const [name, states, isUnstarted] of questions.slice(0, 8)) {
          if (name.includes(' ')) continue
          const more = isUnstarted === undefined ? {} : { isUnstarted }
          const { items } = await store.list({ kind: 'job', states, ...more }, { limit: 5 })
          if (items.length > 0) seen.push(name)
        }
        return seen
      }
      await put(store, job('a', everyMinute))
      expect(await statusOf()).toEqual(['scheduled'])
      const claimed = await claimOne(store, T0 + MINUTE)
      expect(await statusOf()).toEqual(['running'])
      const waiting = await finish(store, claimed, succeeded, T0 + MINUTE)
      expect(await statusOf()).toEqual(['scheduled'])
      const paused = await write(store, pauseJob(waiting, {}, T0 + MINUTE), T0 + MINUTE)
      expect(await statusOf()).toEqual(['paused'])
      await write(store, resumeJob(paused, T0 + MINUTE), T0 + MINUTE)
      expect(await statusOf()).toEqual(['scheduled'])
      const last = failed({ final: true, endsJob: true })
      const over = await finish(
        store,
        await claimOne(store, T0 + 3 * MINUTE),
        last,
        T0 + 3 * MINUTE,
      )
      expect(await statusOf()).toEqual(['failed'])
      await write(store, retryJob(over, T0 + 4 * MINUTE), T0 + 4 * MINUTE)
      expect(await statusOf()).toEqual(['pending'])
      await store.remove(['a'])
      expect(await statusOf()).toEqual([])
    })
  })
}
