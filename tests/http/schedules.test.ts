// Workflow schedules over HTTP: their record, their first run, success, failure and the end
// (A1, A3, A4, A5, A6).

import { describe, expect, it } from 'vitest'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { dailyReport, SCHEDULES, startSchedules } from './schedule-parts.ts'
import { startService } from './service.ts'
import { onThreeStores } from './stores.ts'

const fields = [
  'id',
  'name',
  'description',
  'workflow_id',
  'trigger_node_id',
  'user_profile_id',
  'interval_seconds',
  'total_repeats',
  'max_retries',
  'timeout_seconds',
  'trigger_payload',
  'status',
  'current_repeat',
  'current_retry',
  'last_run_at',
  'next_run_at',
  'run_count',
  'error_count',
  'last_error',
]

onThreeStores((store, start) => {
  describe(`A1 record on ${store}`, () => {
    it('A1 every field of the table is stored and returned', async () => {
      const s = await startSchedules(start)
      const made = await s.make({ ...dailyReport, description: 'for\nthe board' })
      expect(Object.keys(made)).toEqual(expect.arrayContaining(fields))
      expect(made).toMatchObject({
        ...dailyReport,
        description: 'for\nthe board',
        user_profile_id: 'admin@acme',
        status: 'active',
        current_repeat: 0,
        current_retry: 0,
        last_run_at: null,
        next_run_at: '2026-01-06T12:00:00.000Z',
        run_count: 0,
        error_count: 0,
        last_error: '',
        created_at: '2026-01-05T12:00:00.000Z',
      })
      expect(made.id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      expect(await s.get(made.id)).toEqual(made)
    })

    it('A1 what is left out has its default', async () => {
      const s = await startSchedules(start)
      const body = { name: 'plain', workflow_id: 1, interval_seconds: 60 }
      const made = await s.admin.post(SCHEDULES, body)
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        description: '',
        trigger_node_id: null,
        total_repeats: 0,
        max_retries: 3,
        timeout_seconds: 600,
        trigger_payload: null,
      })
    })

    it('A1 the job behind it is an ordinary job with the same id', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make({ interval_seconds: 300, total_repeats: 7 })
      const job = await s.admin.get(`/api/v1/jobs/${id}`)
      expect(job.body).toMatchObject({
        trigger: { every: 300_000, from: 'start' },
        missed: 'once',
        overlap: 'skip',
        run_limit: 7,
        retry: { limit: 3, backoff: { kind: 'relative', max_factor: 10 }, exhausted: 'stop' },
        action: { kind: 'workflow', workflow_id: 1, owner: 'admin@acme' },
      })
    })
  })

  describe(`A3 states on ${store}`, () => {
    it('A3 waiting and running read as active, completed as done, failed as dead', async () => {
      const door = gate()
      const s = await startSchedules(start, script(door.handler, 'fail'))
      const { id } = await s.make({ max_retries: 0 })
      expect((await s.get(id)).status).toBe('active')
      await s.service.advance('1m')
      expect((await s.admin.get(`/api/v1/jobs/${id}`)).body.status).toBe('running')
      expect(await s.get(id)).toMatchObject({
        status: 'active',
        last_run_at: '2026-01-05T12:01:00.000Z',
        next_run_at: '2026-01-05T12:02:00.000Z',
      })
      door.open()
      await s.service.advance('1m')
      expect(await s.get(id)).toMatchObject({ status: 'dead', next_run_at: null, run_count: 1 })
      const once = await s.make({ total_repeats: 1 })
      expect((await s.get(once.id)).status).toBe('active')
    })

    it('A3 a cancelled schedule reads as dead', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make()
      expect((await s.admin.post(`/api/v1/jobs/${id}/cancel`)).status).toBe(200)
      expect(await s.get(id)).toMatchObject({ status: 'dead', next_run_at: null })
      const refused = await s.admin.patch(`${SCHEDULES}${id}/`, { name: 'other' })
      expect(refused.status).toBe(400)
      expect(refused.body.detail).toContain('it is dead')
    })
  })

  describe(`A4 first run on ${store}`, () => {
    it('A4 it comes one interval after creation', async () => {
      const s = await startSchedules(start)
      const { id, next_run_at } = await s.make({ interval_seconds: 300 })
      expect(next_run_at).toBe('2026-01-05T12:05:00.000Z')
      await s.service.advance('4m59s')
      expect(await s.runs(id)).toEqual([])
      await s.service.advance('1s')
      expect((await s.runs(id)).map(run => run.started_at)).toEqual(['2026-01-05T12:05:00.000Z'])
    })

    it('A4 resume waits one interval and keeps the repeat and the retry', async () => {
      const s = await startSchedules(start, script('ok', 'fail', 'ok'))
      const { id } = await s.make({ interval_seconds: 300 })
      await s.service.advance('10m')
      expect(await s.get(id)).toMatchObject({ current_repeat: 1, current_retry: 1 })
      await s.post(id, 'pause')
      await s.service.advance('1h')
      const resumed = await s.post(id, 'resume')
      expect(resumed.body).toMatchObject({
        status: 'active',
        current_repeat: 1,
        current_retry: 1,
        next_run_at: '2026-01-05T13:15:00.000Z',
      })
      await s.service.advance('5m')
      expect(await s.get(id)).toMatchObject({ current_repeat: 2, current_retry: 0, run_count: 2 })
    })
  })

  describe(`A5 success on ${store}`, () => {
    it('A5 it counts the repeat, clears the retry and the error', async () => {
      const s = await startSchedules(start, script('fail', 'ok'))
      const { id } = await s.make({ interval_seconds: 300 })
      await s.service.advance('5m')
      expect(await s.get(id)).toMatchObject({
        error_count: 1,
        current_retry: 1,
        last_error: 'step work: failure 1',
      })
      await s.service.advance('5m')
      expect(await s.get(id)).toMatchObject({
        run_count: 1,
        current_repeat: 1,
        current_retry: 0,
        error_count: 1,
        last_error: '',
        last_run_at: '2026-01-05T12:10:00.000Z',
        next_run_at: '2026-01-05T12:15:00.000Z',
      })
    })

    it('A5 R=5: the success of n=4 makes it done, without a next run', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make({ total_repeats: 5 })
      await s.service.advance('4m')
      expect(await s.get(id)).toMatchObject({ status: 'active', current_repeat: 4 })
      await s.service.advance('10m')
      const done = { status: 'done', current_repeat: 5, run_count: 5, next_run_at: null }
      expect(await s.get(id)).toMatchObject(done)
      expect((await s.runs(id))[0]!.id).toBe(`sched-${id}-n4-rc0`)
    })
  })

  describe(`A6 failure on ${store}`, () => {
    it.each([
      [300, 1, 300],
      [300, 2, 600],
      [300, 3, 1200],
      [300, 10, 3000],
      [10, 5, 100],
      [60, 4, 480],
      [60, 5, 600],
    ])('A6 backoff(%d, %d) = %d', async (interval, retry, seconds) => {
      const s = await startSchedules(start, fail)
      const { id } = await s.make({ interval_seconds: interval, max_retries: 20 })
      for (let failed = 0; failed < retry; failed++) {
        const due = Date.parse((await s.get(id)).next_run_at!)
        await s.service.advance(due - s.service.now)
      }
      const held = await s.get(id)
      expect(held).toMatchObject({ current_retry: retry, error_count: retry })
      expect(Date.parse(held.next_run_at!) - s.service.now).toBe(seconds * 1_000)
    })

    it('A6 mr=3: the failure of rc=3 makes it dead, after four attempts', async () => {
      const s = await startSchedules(start, fail)
      const { id } = await s.make({ max_retries: 3 })
      await s.service.advance('7m')
      expect(await s.get(id)).toMatchObject({ status: 'active', current_retry: 3, error_count: 3 })
      await s.service.advance('1m')
      expect(await s.get(id)).toMatchObject({
        status: 'dead',
        current_retry: 3,
        error_count: 4,
        run_count: 0,
        last_error: 'step work: no luck',
        next_run_at: null,
      })
      await s.service.advance('1h')
      expect((await s.runs(id)).map(run => run.id)).toEqual(
        [3, 2, 1, 0].map(retry => `sched-${id}-n0-rc${retry}`),
      )
    })

    it('A6 max_retries 0 dies on the first failure', async () => {
      const s = await startSchedules(start, fail)
      const { id } = await s.make({ max_retries: 0 })
      await s.service.advance('5m')
      expect(await s.get(id)).toMatchObject({ status: 'dead', error_count: 1, current_retry: 0 })
    })

    it('A6 the budget is per repeat', async () => {
      const s = await startSchedules(start, script('fail', 'ok', 'fail', 'ok', 'fail', 'ok'))
      const { id } = await s.make({ max_retries: 1 })
      await s.service.advance('6m')
      expect(await s.get(id)).toMatchObject({ status: 'active', run_count: 3, error_count: 3 })
      expect((await s.runs(id)).map(run => run.id).slice(0, 2)).toEqual([
        `sched-${id}-n2-rc1`,
        `sched-${id}-n2-rc0`,
      ])
    })
  })
})

it('A5 R=0: after the success of n=999 it is still active, current_repeat 1000', async () => {
  const s = await startSchedules(startService, ok)
  const { id } = await s.make({ interval_seconds: 1 })
  await s.service.advance('1000s')
  expect(await s.get(id)).toMatchObject({
    status: 'active',
    current_repeat: 1000,
    run_count: 1000,
  })
  expect((await s.runs(id))[0]!.id).toBe(`sched-${id}-n999-rc0`)
})
