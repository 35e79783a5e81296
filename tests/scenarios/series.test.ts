// Series: jobs whose occurrences live as tasks carry what their tasks did (T9).

import { expect, test } from 'vitest'
import { TASK_OUTCOME_KIND, totalsOf } from '../../src/core/schedule/series.ts'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { recentAttempts } from '../../src/watch/recent.ts'
import { stores } from '../support/each-store.ts'
import { gate } from '../support/scripted.ts'
import { moment, type World } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const minute = (count: number) => moment(at) + count * MINUTE

function spec(more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  const overlap = { policy: 'allow' } as const
  return completeSpec({ handler: 'work', trigger, overlap, timeoutMs: null, ...more })
}

const noRetries = { ...spec().retry, limit: 0 }

async function outcomesLeft({ store, now }: World): Promise<number> {
  return (await store.listRecords(TASK_OUTCOME_KIND, { limit: 250 }, now)).items.length
}

function fails(): never {
  throw new Error('exit code 1')
}

/** Counters equal the history they summarise. */
async function expectTrueSums(world: World, id: string): Promise<void> {
  const { items } = await world.store.list({ seriesId: id }, { limit: 250 })
  const tasks = items.map(({ totals }) => totals)
  const sum = (field: 'succeeded' | 'failed' | 'cancelled' | 'other' | 'durationMs') =>
    tasks.reduce((all, totals) => all + totals[field], 0)
  const totals = totalsOf(await world.job(id))
  for (const field of ['succeeded', 'failed', 'cancelled', 'other', 'durationMs'] as const) {
    expect([field, totals[field]]).toEqual([field, sum(field)])
  }
}

test.each(stores)(
  'a failing series is red a second after its first run, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', fails)
    await world.create('j', spec({ retry: noRetries }))
    await world.advance('1m')
    expect((await world.job('j')).last).toBeNull()
    await world.advance('1s')
    const job = await world.job('j')
    expect(job.last).toEqual({
      startedAt: minute(1),
      finishedAt: minute(1),
      outcome: 'failed',
      succeededAt: null,
    })
    expect(job.lastError?.message).toBe('exit code 1')
    expect(job.series).toMatchObject({ firedAt: minute(1), totals: { failed: 1, succeeded: 0 } })
    expect(job.state).toBe('waiting')
    await world.advance('4m')
    expect(totalsOf(await world.job('j'))).toMatchObject({ failed: 5, succeeded: 0 })
    const recent = await recentAttempts(world.store, await world.job('j'), { limit: 3 })
    expect(recent.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed'])
    await expectTrueSums(world, 'j')
  },
)

test.each(stores)('a retry that succeeds turns it green again, on %s', async (_, make) => {
  const world = await make({ at })
  let calls = 0
  await world.node('n1', () => {
    if (++calls === 1) throw new Error('not yet')
    return null
  })
  const backoff = { kind: 'fixed', delayMs: 10 * SECOND } as const
  await world.create('j', spec({ retry: { ...spec().retry, limit: 3, backoff } }))
  await world.advance('1m2s')
  expect(await world.job('j')).toMatchObject({
    last: { outcome: 'failed', succeededAt: null },
    lastError: { message: 'not yet' },
    series: { totals: { failed: 1, succeeded: 0 } },
  })
  await world.advance('10s')
  expect(await world.job('j')).toMatchObject({
    last: { outcome: 'succeeded', succeededAt: minute(1) + 10 * SECOND },
    lastError: null,
    series: { totals: { failed: 1, succeeded: 1 } },
  })
  await expectTrueSums(world, 'j')
})

test.each(stores)('many tasks that end together change the series once, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', spec())
  await world.advance('10m')
  expect(door.inside).toHaveLength(10)
  const before = (await world.job('j')).version
  for (let i = 0; i < 7; i++) door.open()
  for (let i = 0; i < 3; i++) door.fail()
  await world.settle()
  expect((await world.job('j')).version).toBe(before)
  expect(await outcomesLeft(world)).toBe(10)
  await world.advance('2s')
  expect(await world.job('j')).toMatchObject({
    version: before + 1,
    revision: 1,
    series: { totals: { succeeded: 7, failed: 3 } },
  })
  expect(await outcomesLeft(world)).toBe(0)
})

test.each(stores)(
  'what a crashed node did not count, the next one does, on %s',
  async (_, make) => {
    const world = await make({ at })
    const first = await world.node('n1', fails)
    await world.create('j', spec({ retry: noRetries }))
    await world.advance('1m')
    await world.crash(first)
    expect(await outcomesLeft(world)).toBe(1)
    expect((await world.job('j')).last).toBeNull()
    await world.node('n2', fails)
    expect(await world.job('j')).toMatchObject({
      last: { outcome: 'failed' },
      series: { totals: { failed: 1 } },
    })
    expect(await outcomesLeft(world)).toBe(0)
  },
)

test.each(stores)('a node that stops counts what it settled, on %s', async (_, make) => {
  const world = await make({ at })
  const node = await world.node('n1', () => null)
  await world.create('j', spec())
  await world.advance('1m')
  await world.stop(node)
  expect(await world.job('j')).toMatchObject({
    last: { outcome: 'succeeded' },
    series: { totals: { succeeded: 1 } },
  })
})

test.each(stores)('several nodes count each outcome once, on %s', async (_, make) => {
  const world = await make({ at })
  let calls = 0
  const handler = () => {
    if (++calls % 3 === 0) throw new Error('third')
    return null
  }
  for (const name of ['n1', 'n2', 'n3']) await world.node(name, handler)
  await world.create('j', spec({ trigger: everySecond, retry: noRetries }))
  await world.create('k', spec({ trigger: everySecond, retry: noRetries }))
  await world.advance('20s')
  await world.advance('700ms')
  await world.advance('700ms')
  await world.client.pause('j')
  await world.client.pause('k')
  await world.advance('3s')
  expect(calls).toBeGreaterThanOrEqual(40)
  expect(await outcomesLeft(world)).toBe(0)
  await expectTrueSums(world, 'j')
  await expectTrueSums(world, 'k')
})

const everySecond = {
  kind: 'interval',
  everyMs: SECOND,
  from: 'schedule',
  anchor: null,
} as const

test.each(stores)('sums stay when tasks are pruned, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', () => null)
  await world.create('j', spec())
  await world.advance('5m1s')
  await world.store.prune({ now: world.now, limit: 1_000, endedTasksMax: 0 })
  expect((await world.store.list({ seriesId: 'j' }, { limit: 9 })).items).toEqual([])
  await world.advance('1m')
  expect(totalsOf(await world.job('j'))).toMatchObject({ succeeded: 6 })
})

test.each(stores)('outcomes of a series that was removed are dropped, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', () => null)
  await world.create('j', spec())
  await world.advance('1m')
  await world.client.remove(['j'])
  expect(await outcomesLeft(world)).toBe(1)
  await world.advance('2s')
  expect(await outcomesLeft(world)).toBe(0)
})

test.each(stores)('a manual retry of a task counts at its series, on %s', async (_, make) => {
  const world = await make({ at })
  let isBroken = true
  await world.node('n1', () => {
    if (isBroken) throw new Error('broken')
    return null
  })
  await world.create('j', spec({ retry: noRetries }))
  await world.advance('1m1s')
  isBroken = false
  await world.client.retryRun(`j@${minute(1)}.1`)
  await world.advance('2s')
  expect(await world.job('j')).toMatchObject({
    last: { outcome: 'succeeded' },
    lastError: null,
    series: { totals: { failed: 1, succeeded: 1 } },
  })
})
