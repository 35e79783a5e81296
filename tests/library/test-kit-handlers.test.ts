// The test kit with handlers that do real work: virtual time waits for them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { every, job, type RunContext } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'
import { scratch } from '../support/servers/scratch.ts'

const stores = ['memory', 'sqlite'] as const

async function storeOf(kind: (typeof stores)[number]) {
  if (kind === 'memory') return { store: 'memory:' as const, remove: async () => {} }
  const { folder, remove } = await scratch('test-kit')
  return { store: `sqlite:${join(folder, 'test.db')}` as const, remove }
}

const statuses = (runs: readonly { status: string }[]) => {
  const counts: Record<string, number> = {}
  for (const { status } of runs) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const work: Readonly<Record<string, (_: void, context: RunContext) => unknown>> = {
  'a microtask': async () => undefined,
  'a file': () => readFile(import.meta.filename),
  'a timer of 5 ms': () => sleep(5),
  'a timer with the signal': (_, { signal }) => sleep(5, undefined, { signal }),
  '40 ms of work': () => sleep(40),
}

describe.each(stores)('on %s', kind => {
  test.each(Object.entries(work))('24 hourly runs with %s succeed', async (_, run) => {
    const { store, remove } = await storeOf(kind)
    const hourly = job('hourly', { schedule: every('1h'), timeout: '1m', run })
    const t = await createTestScheduler({ jobs: [hourly], store })
    await t.advance('24h')
    expect(statuses(t.runs(hourly))).toEqual({ succeeded: 24 })
    await t.stop()
    await remove()
  })

  test('a result needs no advance where only real time is needed', async () => {
    const { store, remove } = await storeOf(kind)
    const slow = job('slow', { run: () => sleep(30, 'done') })
    const t = await createTestScheduler({ jobs: [slow], store })
    const runs = await Promise.all([1, 2, 3].map(() => t.scheduler.trigger('slow', undefined)))
    expect(await Promise.all(runs.map(run => run.result()))).toEqual(['done', 'done', 'done'])
    await t.stop()
    await remove()
  })
})

describe('handlers that wait for virtual time', () => {
  test('a handler that waits only on its signal times out', async () => {
    const deaf = job('deaf', {
      schedule: every('1h'),
      timeout: '10m',
      retry: { limit: 0 },
      run: (_: void, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    const t = await createTestScheduler({ jobs: [deaf] })
    await t.advance('70m')
    expect(t.runs(deaf)).toMatchObject([{ status: 'timedOut' }])
    await t.stop()
  })

  test('a handler in t.sleep is not waited for, and real work after it is', async () => {
    const ended: string[] = []
    let nap = (): Promise<void> => Promise.resolve()
    const napping = job('napping', {
      timeout: '5h',
      run: async (_: void, { signal }) => {
        await nap()
        await sleep(30, undefined, { signal })
        ended.push(t.now.toISOString())
      },
    })
    const t = await createTestScheduler({ jobs: [napping] })
    nap = () => t.sleep('2h')
    await t.scheduler.trigger('napping', undefined)
    await t.advance('1h')
    expect(t.runs(napping)).toEqual([])
    await t.advance('3h')
    expect(ended).toEqual(['2026-01-01T02:00:00.000Z'])
    expect(statuses(t.runs(napping))).toEqual({ succeeded: 1 })
    await t.stop()
  })

  test('a handler that waits for another run lets time pass', async () => {
    const child = job('child', { run: () => sleep(20, 'child') })
    const parent = job('parent', {
      run: async (): Promise<unknown> => {
        const run = await t.scheduler.trigger('child', undefined, { delay: '10m' })
        return run.result()
      },
    })
    const t = await createTestScheduler({ jobs: [child, parent] })
    await t.scheduler.trigger('parent', undefined)
    await t.advance('11m')
    expect(t.runs(parent)).toMatchObject([{ status: 'succeeded', result: 'child' }])
    await t.stop()
  })

  test('a handler that starts another run and goes on with real work is waited for', async () => {
    const child = job('child', { run: () => sleep(20) })
    const parent = job('parent', {
      schedule: every('1h'),
      timeout: '1m',
      run: async (): Promise<void> => {
        await t.scheduler.trigger('child', undefined)
        await sleep(40)
      },
    })
    const t = await createTestScheduler({ jobs: [child, parent] })
    await t.advance('3h')
    expect(statuses(t.runs(parent))).toEqual({ succeeded: 3 })
    expect(statuses(t.runs(child))).toEqual({ succeeded: 3 })
    await t.stop()
  })
})

test('a handler that does not end is named, and time stays where it was', async () => {
  const stuck = job('stuck', { schedule: every('1h'), run: () => new Promise<void>(() => {}) })
  const t = await createTestScheduler({ jobs: [stuck], handlerWaitMs: 50 })
  await expect(t.advance('2h')).rejects.toThrow(
    /^still running after 50 ms of real time: stuck \(.*:stuck:main\.1\)\. /,
  )
  expect(t.now.toISOString()).toBe('2026-01-01T01:00:00.000Z')
  expect(await t.stop()).toMatchObject({ clean: false })
})

test('handlerWaitMs 0 moves time without waiting', async () => {
  const slow = job('slow', {
    schedule: every('1h'),
    timeout: '1m',
    retry: { limit: 0 },
    run: (_: void, { signal }) => sleep(60_000, undefined, { signal }),
  })
  const t = await createTestScheduler({ jobs: [slow], handlerWaitMs: 0 })
  await t.advance('62m')
  expect(t.runs(slow)).toMatchObject([{ status: 'timedOut' }])
  await t.stop()
})
