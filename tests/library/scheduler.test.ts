import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  at,
  createScheduler,
  cron,
  every,
  job,
  Skip,
  type SchedulerError,
  type SchedulerEvent,
} from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const add = job('add', {
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  run: ({ a, b }) => ({ sum: a + b }),
})
const beat = job('beat', { schedule: every('1m'), run: () => undefined })
const quiet = { print: () => {} }

describe('trigger', () => {
  test('runs once with its own input and gives the typed result', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const run = await t.scheduler.trigger('add', { a: 2 })
    const { sum } = await t.during(run.result())
    expect(sum).toBe(3)
    await t.stop()
  })

  test('the same idempotency key makes the same run', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const options = { idempotencyKey: 'order-7' }
    const first = await t.scheduler.trigger('add', { a: 1 }, options)
    const again = await t.scheduler.trigger('add', { a: 1 }, options)
    expect(again.id).toBe(first.id)
    await t.advance('1s')
    expect(t.runs(add)).toHaveLength(1)
    await t.stop()
  })

  test('an input that does not fit names field and rule, and nothing is stored', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const before = await t.scheduler.engine.store.counts()
    const wrong = t.scheduler.trigger('add', { a: 'x' } as never)
    await expect(wrong).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      problems: [{ field: 'payload.a', value: 'x' }],
    })
    expect(await t.scheduler.engine.store.counts()).toEqual(before)
    await t.stop()
  })

  test('a delayed one waits, and can be cancelled before it starts', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const run = await t.scheduler.trigger('add', { a: 1 }, { delay: '10m' })
    await t.advance('5m')
    expect(t.runs(add)).toHaveLength(0)
    await t.scheduler.jobs.cancel(run.id.replace(/\.1$/, ''))
    await t.advance('10m')
    expect(t.runs(add)).toHaveLength(0)
    await t.stop()
  })
})

describe('runtime schedules', () => {
  test('(job, key) is the identity: calling again edits, and a start leaves them alone', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const make = (when = every('10m')) =>
      t.scheduler.schedule('add', { key: 'customer:7', when, input: { a: 1 }, tenant: 'acme' })
    const first = await make()
    const again = await make(every('5m'))
    expect(again.id).toBe(first.id)
    expect(again.revision).toBe(first.revision + 1)
    await t.restart()
    await t.advance('5m')
    expect(t.runs(add)).toHaveLength(1)
    await t.stop()
  })

  test('mode declared refuses them', async () => {
    const t = await createTestScheduler({ jobs: [add], mode: 'declared' })
    const refused = t.scheduler.schedule('add', { key: 'x', when: every('1m'), input: { a: 1 } })
    await expect(refused).rejects.toMatchObject({ code: 'JOB_DECLARED' })
    await t.stop()
  })

  test('every problem of a job is named at once, and nothing is stored', async () => {
    const t = await createTestScheduler({ jobs: [add] })
    const wrong = t.scheduler.jobs.create({
      handler: '',
      name: 'x'.repeat(300),
      priority: 9 as never,
      when: every('5m'),
      retry: { limit: -1 },
    })
    const error = (await wrong.catch(caught => caught)) as SchedulerError
    expect(error.code).toBe('SPEC_INVALID')
    expect(error.problems.map(problem => problem.field).sort()).toEqual([
      'handler',
      'name',
      'priority',
      'retry.limit',
    ])
    await t.stop()
  })
})

describe('control', () => {
  test('pause, why, resume: by the name of the definition', async () => {
    const t = await createTestScheduler({ jobs: [beat] })
    const { jobs } = t.scheduler
    expect(await jobs.pause('beat', { note: 'upgrade' })).toEqual({
      matched: 1,
      changed: 1,
      failed: [],
    })
    const why = await t.scheduler.why('beat')
    expect(why.verdict).toBe('Will NOT run: paused: "upgrade".')
    await t.advance('10m')
    expect(t.runs(beat)).toHaveLength(0)
    await t.scheduler.jobs.resume('beat')
    await t.advance('1m')
    expect(t.runs(beat)).toHaveLength(1)
    await t.stop()
  })

  test('a declared job cannot be edited or removed by a call', async () => {
    const t = await createTestScheduler({ jobs: [beat] })
    const { jobs } = t.scheduler
    await expect(jobs.edit('beat', { when: every('2m') })).rejects.toMatchObject({
      code: 'JOB_DECLARED',
    })
    await expect(jobs.remove('beat')).rejects.toMatchObject({ code: 'JOB_DECLARED' })
    await t.stop()
  })

  test('run now is a run beside the schedule; its id is known at once', async () => {
    const t = await createTestScheduler({ jobs: [beat] })
    const id = await t.scheduler.jobs.run('beat')
    await t.advance('1s')
    expect(await t.scheduler.runs.get(id)).toMatchObject({ origin: 'manual', status: 'completed' })
    await t.advance('59s')
    expect(t.runs(beat).map(run => run.trigger)).toEqual(['manual', 'schedule'])
    await t.stop()
  })

  test('backfill runs past firings again without moving the schedule', async () => {
    const hourly = job('hourly', {
      schedule: cron('0 * * * *', { tz: 'UTC' }),
      run: () => undefined,
    })
    const t = await createTestScheduler({ jobs: [hourly], now: '2026-01-02T00:30:00Z' })
    const range = { from: '2026-01-01T21:00:00Z', to: '2026-01-02T00:00:00Z' }
    expect(await t.scheduler.jobs.backfill('hourly', range)).toMatchObject({ count: 4 })
    await t.advance('30m')
    const runs = t
      .runs(hourly)
      .map(run => [run.trigger, run.scheduledFor.toISOString().slice(11, 16)])
    expect(runs).toEqual([
      ['backfill', '21:00'],
      ['backfill', '22:00'],
      ['backfill', '23:00'],
      ['backfill', '00:00'],
      ['schedule', '01:00'],
    ])
    await t.stop()
  })

  test('an unknown name says so', async () => {
    const t = await createTestScheduler({ jobs: [beat] })
    await expect(t.scheduler.jobs.pause('nobody')).rejects.toMatchObject({
      code: 'JOB_NOT_FOUND',
      message: 'there is no job nobody',
    })
    await t.stop()
  })
})

describe('events', () => {
  test('tell what happened, filtered, until the scheduler stops', async () => {
    const idle = job('idle', {
      schedule: every('1m'),
      run: () => {
        throw new Skip('nothing to do')
      },
    })
    const t = await createTestScheduler({ jobs: [idle, beat] })
    const seen: SchedulerEvent[] = []
    const reading = (async () => {
      for await (const event of t.scheduler.events({ job: 'idle' })) seen.push(event)
    })()
    await t.advance('1m')
    await t.stop()
    await reading
    expect(seen.map(event => event.type)).toEqual(['run.started', 'run.finished'])
    expect(seen[1]).toMatchObject({ status: 'skipped' })
  })
})

test('starting needs different names; using needs a start', async () => {
  expect(() => createScheduler({ jobs: [beat, beat], ...quiet })).toThrow(
    /jobs: must have different names/,
  )
  const idle = createScheduler({ jobs: [beat], store: 'memory:', ...quiet })
  expect(() => idle.jobs).toThrow(/not started/)
  await expect(
    createScheduler({ jobs: [beat], store: 'mysql://x', ...quiet }).start(),
  ).rejects.toMatchObject({ code: 'SETTINGS_INVALID' })
  await expect(
    createScheduler({
      jobs: [beat],
      store: 'memory:',
      slots: 0,
      lockDurationMs: 1,
      ...quiet,
    }).start(),
  ).rejects.toMatchObject({ problems: [{ field: 'slots' }, { field: 'lockDurationMs' }] })
})

test('start and stop twice are harmless, on the real clock', async () => {
  const scheduler = createScheduler({ jobs: [add], store: 'memory:', ...quiet })
  await scheduler.start()
  await scheduler.start()
  const run = await scheduler.trigger('add', { a: 20, b: 22 })
  expect(await run.result()).toEqual({ sum: 42 })
  expect(await scheduler.stop()).toEqual({ clean: true, aborted: [] })
  expect(await scheduler.stop()).toEqual({ clean: true, aborted: [] })
})

test('a one-off in the past runs at once', async () => {
  const once = job('once', { schedule: at('2025-12-31T00:00:00Z'), run: () => 'done' })
  const t = await createTestScheduler({ jobs: [once] })
  await t.advance('1s')
  expect(t.runs(once)).toMatchObject([{ status: 'succeeded', result: 'done' }])
  await t.stop()
})

describe('queues', () => {
  test('a paused queue starts nothing, and why says so', async () => {
    const t = await createTestScheduler({ jobs: [beat] })
    await t.scheduler.queues.pause('default')
    await t.advance('5m')
    expect(t.runs(beat)).toHaveLength(0)
    expect((await t.scheduler.why('beat')).verdict).toBe('Will NOT run: queue default is paused.')
    expect(await t.scheduler.queues.paused()).toEqual(['default'])
    await t.scheduler.queues.resume('default')
    await t.advance('1s')
    expect(t.runs(beat)).toHaveLength(1)
    await t.stop()
  })
})

test('events can be read from before the start', async () => {
  const scheduler = createScheduler({ jobs: [add], store: 'memory:', ...quiet })
  const events = scheduler.events({ types: ['run.finished'] })
  await scheduler.start()
  await (await scheduler.trigger('add', { a: 1 })).result()
  expect((await events.next()).value).toMatchObject({ type: 'run.finished', status: 'completed' })
  await scheduler.stop()
  expect((await events.next()).done).toBe(true)
})

test('result of a run that failed rejects with why', async () => {
  const broken = job('broken', {
    retry: false,
    run: (): void => {
      throw new Error('no luck')
    },
  })
  const t = await createTestScheduler({ jobs: [broken] })
  const run = await t.scheduler.trigger('broken', undefined)
  await expect(t.during(run.result())).rejects.toMatchObject({
    code: 'RUN_FAILED',
    message: expect.stringContaining('no luck') as string,
  })
  await t.stop()
})
