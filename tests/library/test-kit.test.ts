import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { cron, every, job, NoRetry } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'carillon-kit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const stores = {
  memory: () => 'memory:' as const,
  sqlite: () => `sqlite:${join(folder, `${++files}.db`)}` as const,
}

const digest = job('digest', {
  schedule: cron('0 7 * * 1-5', { tz: 'Europe/Berlin' }),
  run: (): string => 'sent',
})

for (const [name, store] of Object.entries(stores)) {
  describe(`the test kit on ${name}`, () => {
    test('the 02:30 run survives the spring-forward gap, once', async () => {
      const t = await createTestScheduler({
        jobs: [digest],
        now: '2027-03-27T12:00:00Z',
        store: store(),
        override: { digest: { schedule: cron('30 2 * * *', { tz: 'Europe/Berlin' }) } },
      })
      await t.advance('48h')
      const runs = t.runs(digest)
      expect(runs.map(run => run.scheduledFor.toISOString())).toEqual([
        '2027-03-28T01:00:00.000Z',
        '2027-03-29T00:30:00.000Z',
      ])
      expect(runs[0]?.note).toBe('dst-gap-shifted')
      await t.stop()
    })

    test('five days down, one catch-up run', async () => {
      const t = await createTestScheduler({
        jobs: [digest],
        now: '2026-11-16T00:00:00Z',
        store: store(),
      })
      await t.crash()
      await t.advance('5d')
      await t.restart()
      await t.advance('1s')
      expect(t.runs(digest).map(run => [run.trigger, run.missed])).toEqual([['catch-up', 4]])
      await t.stop()
    })

    test('fail makes the next runs throw, and retries follow', async () => {
      const flaky = job('flaky', {
        schedule: every('1h'),
        retry: { limit: 3, base: '60s' },
        run: () => 'ok',
      })
      const t = await createTestScheduler({ jobs: [flaky], store: store() })
      t.fail(flaky, { times: 2 })
      await t.advance('1h')
      await t.advance('3m')
      expect(t.runs(flaky).map(run => [run.attempt, run.status, run.lateMs / 1000])).toEqual([
        [1, 'failed', 0],
        [2, 'failed', 60],
        [3, 'succeeded', 180],
      ])
      await t.stop()
    })

    test('two nodes share the work without doubling it', async () => {
      const often = job('often', { schedule: every('10s'), run: () => undefined })
      const t = await createTestScheduler({ jobs: [often], store: store() })
      const fork = await t.fork()
      await t.advance('5m')
      const moments = t.runs(often).map(run => run.scheduledFor.getTime())
      expect(moments).toHaveLength(30)
      expect(new Set(moments).size).toBe(30)
      await fork.stop()
      await t.stop()
    })

    test('a crashed run is taken over after its lease, on the same run', async () => {
      let pause = (): Promise<void> => Promise.resolve()
      const long = job('long', {
        schedule: every('1h'),
        timeout: '30m',
        run: (): Promise<void> => pause(),
      })
      const t = await createTestScheduler({ jobs: [long], store: store() })
      pause = () => t.sleep('10m')
      const fork = await t.fork()
      await t.advance('1h')
      await t.advance('1m')
      const holder = t.runs(long).length === 0
      expect(holder).toBe(true)
      const [row] = await t.scheduler.engine.store.list({}, { limit: 1 }).then(page => page.items)
      const dead = row!.lease!.owner.startsWith('node-1.') ? t : fork
      const alive = dead === t ? fork : t
      await dead.crash()
      await alive.advance('11m')
      expect(t.runs(long).map(run => [run.run, run.attempt, run.status])).toEqual([
        [1, 1, 'abandoned'],
        [1, 2, 'succeeded'],
      ])
      await alive.stop()
      await t.stop()
    })

    test('A11 recover puts back what a lost process ran, and says how many', async () => {
      let pause = (): Promise<void> => Promise.resolve()
      const work = { schedule: every('1h'), timeout: '30m', run: () => pause() } as const
      const jobs = [job('one', work), job('two', work)]
      const t = await createTestScheduler({ jobs, store: store(), staleLockCheckMs: 3_600_000 })
      pause = () => t.sleep('10m')
      await t.advance('1h')
      const alive = await t.fork()
      expect(await alive.scheduler.recover()).toBe(0)
      await t.crash()
      await alive.advance('20s')
      expect(await alive.scheduler.recover()).toBe(2)
      expect(await alive.scheduler.recover()).toBe(0)
      await alive.advance('11m')
      expect(t.runs(jobs[0]!).map(run => [run.run, run.status])).toEqual([
        [1, 'abandoned'],
        [1, 'succeeded'],
      ])
      await alive.stop()
      await t.stop()
    })

    test('a lost store is survived', async () => {
      const often = job('often', { schedule: every('1m'), run: () => undefined })
      const t = await createTestScheduler({ jobs: [often], store: store() })
      await t.advance('2m')
      t.partition()
      await t.advance('5m')
      expect(t.runs(often)).toHaveLength(2)
      t.partition(false)
      await t.advance('1m')
      expect(t.runs(often).at(-1)?.status).toBe('succeeded')
      expect(t.runs(often).length).toBeGreaterThan(2)
      await t.stop()
    })
  })
}

test('the trace of the same test is the same text', async () => {
  const trace = async () => {
    const t = await createTestScheduler({ jobs: [digest] })
    const fork = await t.fork()
    await t.advance('3d')
    await fork.crash()
    await t.advance('1d')
    await t.stop()
    return t.trace().join('\n')
  }
  const first = await trace()
  expect(first).toContain('succeeded digest run 1.1')
  expect(await trace()).toBe(first)
})

test('upcoming names the next moments with their zone', async () => {
  const t = await createTestScheduler({ jobs: [digest], now: '2027-03-26T12:00:00Z' })
  expect(t.upcoming(digest, 2)).toEqual([
    { at: new Date('2027-03-29T05:00:00Z'), wall: '2027-03-29T07:00:00', tz: 'Europe/Berlin' },
    { at: new Date('2027-03-30T05:00:00Z'), wall: '2027-03-30T07:00:00', tz: 'Europe/Berlin' },
  ])
  await t.stop()
})

test('a handler alone: no store, no clock', async () => {
  const picky = job('picky', {
    run: (_: void, { run, log }) => {
      log.info(`attempt ${run.attempt}`)
      if (run.attempt > 1) throw new NoRetry('enough')
      throw new Error('again')
    },
  })
  expect(await picky.test()).toMatchObject({
    status: 'failed',
    retryInMs: 60_000,
    logs: ['attempt 1'],
  })
  const second = await picky.test(undefined, { attempt: 2 })
  expect(second.status).toBe('failed')
  expect(second.retryInMs).toBeUndefined()
})
