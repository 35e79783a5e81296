// Workflow schedules over HTTP while things happen to them: overlap, crashes, timeouts, pauses,
// edits, restarts (A7, A8, A10, A11, A12, A14).

import { describe, expect, it } from 'vitest'
import { gate, ok, script } from '../support/scripted.ts'
import { SCHEDULES, scheduleIn, startSchedules } from './schedule-parts.ts'
import { startService } from './service.ts'
import { onThreeStores } from './stores.ts'

onThreeStores((store, start) => {
  it(`A7 on ${store}: slots passed during a run are skips with their reason`, async () => {
    const door = gate()
    const s = await startSchedules(start, door.handler)
    const { id } = await s.make({ timeout_seconds: 3600 })
    await s.service.advance('3m30s')
    expect(await s.runs(id)).toHaveLength(1)
    expect(await s.get(id)).toMatchObject({ next_run_at: '2026-01-05T12:04:00.000Z' })
    door.open()
    await s.service.advance(0)
    expect(await s.get(id)).toMatchObject({
      run_count: 1,
      error_count: 0,
      current_repeat: 1,
      current_retry: 0,
      next_run_at: '2026-01-05T12:04:00.000Z',
    })
    const { body } = await s.admin.get(`/api/v1/jobs/${id}/heartbeat`)
    expect(body['slots']).toMatchObject([
      { from: '2026-01-05T12:01:00.000Z', ok: 1 },
      { from: '2026-01-05T12:02:00.000Z', skipped: 2, reason: 'overlap' },
    ])
  })

  describe(`A8 run identity on ${store}`, () => {
    it('A8 it names the repeat and the retry, and finds the run', async () => {
      const s = await startSchedules(start, script('ok', 'fail', 'ok'))
      const { id } = await s.make()
      await s.service.advance('3m')
      const names = (await s.runs(id)).map(run => run.id)
      expect(names).toEqual(['n1-rc1', 'n1-rc0', 'n0-rc0'].map(name => `sched-${id}-${name}`))
      const one = await s.admin.get(`${SCHEDULES}${id}/runs/sched-${id}-n1-rc0/`)
      expect(one.body).toMatchObject({
        status: 'failed',
        error: 'step work: failure 2',
        repeat_number: 1,
        retry_number: 0,
        steps: [{ id: 'work', status: 'failed' }],
      })
      const none = await s.admin.get(`${SCHEDULES}${id}/runs/sched-${id}-n2-rc0/`)
      expect(none.status).toBe(404)
    })

    it('A8 runs asked for by hand neither move it nor take the name of a repeat', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make()
      await s.service.advance('1m')
      const asked = await s.admin.post(`/api/v1/jobs/${id}/run`)
      await s.service.advance('1s')
      await s.service.advance('59s')
      const [second, byHand, first] = await s.runs(id)
      expect([first!.id, second!.id]).toEqual([`sched-${id}-n0-rc0`, `sched-${id}-n1-rc0`])
      expect(byHand).toMatchObject({ id: `${asked.body.run_id}-rc0`, origin: 'manual' })
      const found = await s.admin.get(`${SCHEDULES}${id}/runs/sched-${id}-n1-rc0`)
      expect(found.body).toEqual(second)
      expect((await s.get(id)).current_repeat).toBe(2)
    })

    it('A8 an attempt that takes over from a dead node has the same id', async () => {
      const door = gate()
      const s = await startSchedules(start, script('ok', 'fail', door.handler, 'ok'), {
        settings: { reapMs: 5_000, idleReapMs: 15_000 },
      })
      const { id } = await s.make()
      await s.service.advance('3m')
      const name = `sched-${id}-n1-rc1`
      expect((await s.runs(id))[0]).toMatchObject({ id: name, status: 'running' })
      s.service.engine.node.crash()
      await s.node('node-2')
      await s.service.advance('30s')
      const [again, lost] = await s.runs(id)
      expect(lost).toMatchObject({ id: name, outcome: 'abandoned', attempt: 2 })
      expect(again).toMatchObject({ id: name, outcome: 'succeeded', attempt: 3 })
      expect(again!['execution_id']).not.toBe(lost!['execution_id'])
      expect(await s.get(id)).toMatchObject({ current_repeat: 2, current_retry: 0 })
    })

    it('A8 a repeated call with its Idempotency-Key makes one', async () => {
      const s = await startSchedules(start)
      const body = { name: 's', workflow_id: 1, interval_seconds: 60 }
      const key = { 'idempotency-key': 'once-1' }
      const [first, again] = [
        await s.admin.post(SCHEDULES, body, key),
        await s.admin.post(SCHEDULES, body, key),
      ]
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.body).toEqual(first.body)
      expect((await s.list()).total).toBe(1)
    })
  })

  describe(`A10 success on ${store}`, () => {
    it('A10 a run that times out counts as a failure and is retried', async () => {
      const door = gate()
      const s = await startSchedules(start, script(door.handler, 'ok'))
      const { id } = await s.make({ interval_seconds: 60, timeout_seconds: 90 })
      await s.service.advance('1m')
      await s.service.advance('90s')
      expect(door.aborts).toEqual(['timeout'])
      const held = await s.get(id)
      expect(held).toMatchObject({
        status: 'active',
        error_count: 1,
        current_retry: 1,
        next_run_at: '2026-01-05T12:03:30.000Z',
      })
      expect(held.last_error).toContain('90000 ms')
      await s.service.advance('1m')
      expect(await s.get(id)).toMatchObject({ run_count: 1, last_error: '' })
    })
  })

  describe(`A11 recovery on ${store}`, () => {
    it('A11 an overdue schedule runs at once, once, and keeps (n, rc)', async () => {
      const s = await startSchedules(start, script('ok', 'fail', 'ok'))
      const { id } = await s.make()
      await s.service.advance('2m')
      await s.service.until(s.service.engine.node.stop())
      const { now } = s.service
      await s.service.advance('6h')
      expect(await s.runs(id)).toHaveLength(2)
      await s.node('node-2')
      await s.service.advance(0)
      const [newest, ...others] = await s.runs(id)
      expect(others).toHaveLength(2)
      expect(newest).toMatchObject({ id: `sched-${id}-n1-rc1`, status: 'completed' })
      expect(Date.parse(newest!.started_at)).toBeGreaterThanOrEqual(now + 6 * 3_600_000)
    })

    it('A11 paused, done and dead schedules are left alone', async () => {
      const s = await startSchedules(start, script('ok', 'fail'))
      const done = await s.make({ total_repeats: 1 })
      await s.service.advance('1m')
      const dead = await s.make({ max_retries: 0 })
      const paused = await s.make({ interval_seconds: 3600 })
      await s.post(paused.id, 'pause')
      await s.service.advance('1m')
      s.service.engine.node.crash()
      await s.service.advance('1d')
      await s.node('node-2')
      await s.service.advance('10s')
      const held = [await s.get(done.id), await s.get(dead.id), await s.get(paused.id)]
      expect(held.map(({ status }) => status)).toEqual(['done', 'dead', 'paused'])
      const runs = [await s.runs(done.id), await s.runs(dead.id), await s.runs(paused.id)]
      expect(runs.map(({ length }) => length)).toEqual([1, 1, 0])
    })

    it('A11 12 restarts within one interval do not postpone the run', async () => {
      const s = await startSchedules(start, ok, { works: false })
      const { id, next_run_at } = await s.make({ interval_seconds: 3600 })
      for (let restart = 0; restart < 12; restart++) {
        const node = await s.node(`node-${restart}`)
        await s.service.advance('4m')
        if (restart % 2 === 0) node.crash()
        else await s.service.until(node.stop())
        expect((await s.get(id)).next_run_at).toBe(next_run_at)
      }
      await s.node('last')
      await s.service.advance(Date.parse(next_run_at!) - s.service.now)
      expect((await s.runs(id)).map(run => run.started_at)).toEqual([next_run_at])
    })
  })

  describe(`A12 pause on ${store}`, () => {
    it('A12 it clears next_run_at and nothing starts after it', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make()
      await s.service.advance('1m')
      const paused = await s.post(id, 'pause')
      expect(paused.status).toBe(200)
      expect(paused.body).toMatchObject({ status: 'paused', next_run_at: null, run_count: 1 })
      await s.service.advance('10m')
      expect(await s.runs(id)).toHaveLength(1)
    })

    it('A12 while it runs, it reads paused at once; the run finishes and counts', async () => {
      const door = gate()
      const s = await startSchedules(start, door.handler)
      const { id } = await s.make()
      await s.make({ name: 'other', interval_seconds: 3600 })
      await s.service.advance('1m')
      const paused = await s.post(id, 'pause')
      expect(paused.body).toMatchObject({ status: 'paused', next_run_at: null })
      expect(await s.list('?status=paused')).toEqual({ names: ['s'], total: 1 })
      expect(await s.list('?status=active')).toEqual({ names: ['other'], total: 1 })
      expect((await s.post(id, 'pause')).status).toBe(400)
      door.open()
      await s.service.advance('5m')
      expect(await s.get(id)).toMatchObject({ status: 'paused', run_count: 1, current_repeat: 1 })
      expect(await s.runs(id)).toHaveLength(1)
    })

    it('A12 resumed while the run goes on, the schedule goes on', async () => {
      const door = gate()
      const s = await startSchedules(start, door.handler)
      const { id } = await s.make()
      await s.service.advance('1m')
      await s.post(id, 'pause')
      const resumed = await s.post(id, 'resume')
      expect(resumed.body).toMatchObject({
        status: 'active',
        next_run_at: '2026-01-05T12:02:00.000Z',
      })
      door.open()
      await s.service.advance('1m')
      expect(door.inside).toHaveLength(1)
    })

    it('A12 a row gone or paused when it fires: no dispatch, no error', async () => {
      const s = await startSchedules(start)
      const errors: unknown[] = []
      s.service.engine.events.on('error', event => errors.push(event))
      const gone = await s.make()
      const paused = await s.make()
      await s.service.advance(59_999)
      expect((await s.admin.delete(`${SCHEDULES}${gone.id}/`)).status).toBe(204)
      await s.post(paused.id, 'pause')
      await s.service.advance('2m')
      expect(await s.runs(paused.id)).toEqual([])
      expect((await s.get(paused.id)).error_count).toBe(0)
      expect(errors).toEqual([])
    })
  })

  describe(`A14 PATCH of the interval on ${store}`, () => {
    it('A14 it moves the waiting run to one new interval from now', async () => {
      const s = await startSchedules(start)
      const { id } = await s.make({ interval_seconds: 3600 })
      await s.service.advance('10m')
      const edited = await s.admin.patch(`${SCHEDULES}${id}/`, { interval_seconds: 120 })
      expect(edited.status).toBe(200)
      expect(edited.body).toMatchObject({
        interval_seconds: 120,
        next_run_at: '2026-01-05T12:12:00.000Z',
      })
      await s.service.advance('2m')
      expect((await s.runs(id)).map(run => run.started_at)).toEqual(['2026-01-05T12:12:00.000Z'])
    })

    it('A14 a waiting retry keeps its moment', async () => {
      const s = await startSchedules(start, script('fail', 'ok'))
      const { id } = await s.make({ interval_seconds: 600 })
      await s.service.advance('15m')
      const edited = await s.admin.patch(`${SCHEDULES}${id}/`, { interval_seconds: 1200 })
      expect(scheduleIn(edited).next_run_at).toBe('2026-01-05T12:20:00.000Z')
      await s.service.advance('5m')
      expect((await s.get(id)).next_run_at).toBe('2026-01-05T12:40:00.000Z')
    })

    it('A14 a paused one stays paused, and one that is done stays done', async () => {
      const s = await startSchedules(start)
      const paused = await s.make()
      await s.post(paused.id, 'pause')
      const path = `${SCHEDULES}${paused.id}/`
      const edited = await s.admin.patch(path, { interval_seconds: 30 })
      expect(edited.body).toMatchObject({ status: 'paused', next_run_at: null })
      const done = await s.make({ total_repeats: 1 })
      await s.service.advance('1m')
      const refused = await s.admin.patch(`${SCHEDULES}${done.id}/`, { interval_seconds: 30 })
      expect(refused.status).toBe(400)
      expect(refused.body.detail).toContain('it is done')
      const renamed = await s.admin.patch(`${SCHEDULES}${done.id}/`, { name: 'old' })
      expect(renamed.body).toMatchObject({ name: 'old', status: 'done', next_run_at: null })
    })
  })
})

it('A8 a run that was cancelled keeps the name of its repeat', async () => {
  const door = gate()
  const s = await startSchedules(startService, script('ok', door.handler, 'ok'))
  const { id } = await s.make()
  await s.service.advance('2m')
  const [live] = await s.runs(id)
  expect(live).toMatchObject({ id: `sched-${id}-n1-rc0`, status: 'running' })
  await s.service.engine.client.cancelRun(String(live!['run_id']))
  await s.service.advance('1m')
  const names = (await s.runs(id)).map(run => run.id)
  expect(names).toEqual(['n2-rc0', 'n1-rc0', 'n0-rc0'].map(name => `sched-${id}-${name}`))
  expect((await s.runs(id))[1]).toMatchObject({ status: 'cancelled' })
})
