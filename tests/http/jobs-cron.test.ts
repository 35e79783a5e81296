// From cron to intervals over HTTP, and the log lines of the service (B11, B18).

import { describe, expect, it } from 'vitest'
import { logService } from '../../src/service/service-log.ts'
import { sourceOf } from '../../src/service/compat/crawl-jobs/flat.ts'
import { flatJob } from './service.ts'
import { onThreeStores } from './stores.ts'

const site = { source_name: 'example.com', url: 'https://example.com' }

onThreeStores((store, start) => {
  describe(`B11 from cron to intervals on ${store}`, () => {
    it('B11 shows first, converts when told to, lists the rest, and can be rolled back', async () => {
      const s = await start({ works: false })
      const make = async (schedule_time: string, more: object = {}) =>
        (await s.as().post('/api/v1/jobs', { ...site, schedule_time, ...more })).body.id
      const hourly = await make('0 * * * *')
      const sixHours = await make('0 */6 * * *')
      const daily = await make('0 0 * * *', { schedule_enabled: false })
      const complex = await make('30 2 * * 1-5')
      const foreign = (
        await s.as('admin', 'globex').post('/api/v1/jobs', { ...site, schedule_time: '0 * * * *' })
      ).body.id
      const plan = await s.as().post('/api/v1/jobs/from-cron')
      expect(plan.body).toMatchObject({
        applied: false,
        converted: [
          {
            id: hourly,
            schedule_time: '0 * * * *',
            interval_minutes: 60,
            interval_type: 'minutes',
          },
          { id: sixHours, interval_minutes: 6, interval_type: 'hours' },
          { id: daily, interval_minutes: 1, interval_type: 'days' },
        ],
        review: [
          {
            id: complex,
            schedule_time: '30 2 * * 1-5',
            reason: 'weekdays are not equally spaced',
          },
        ],
        is_complete: true,
      })
      const before = (await s.as().get(`/api/v1/jobs/${hourly}`)).body
      expect(before).toMatchObject({ interval_minutes: null, revision: 1 })
      await s.as().post('/api/v1/jobs/from-cron', { apply: true })
      expect((await s.as().get(`/api/v1/jobs/${hourly}?form=both`)).body).toMatchObject({
        interval_minutes: 60,
        schedule_time: '0 * * * *',
        schedule_enabled: true,
        next_run_at: '2026-01-05T13:00:00.000Z',
        trigger: { every: 3_600_000, from: 'schedule', anchor: '1970-01-01T00:00:00.000Z' },
      })
      const off = (await s.as().get(`/api/v1/jobs/${daily}`)).body
      expect(off).toMatchObject({ interval_minutes: 1, schedule_enabled: false })
      // Switched on, it goes on where cron would have run; another interval begins anew.
      const on = await s.as().patch(`/api/v1/jobs/${daily}`, { schedule_enabled: true })
      expect(on.body).toMatchObject({ next_run_at: '2026-01-06T00:00:00.000Z' })
      const changed = await s.as().patch(`/api/v1/jobs/${daily}?form=both`, {
        interval_minutes: 2,
      })
      expect(changed.body).toMatchObject({ trigger: { from: 'finish', anchor: null } })
      const left = (await s.as().get(`/api/v1/jobs/${complex}`)).body
      expect(left).toMatchObject({ interval_minutes: null, schedule_time: '30 2 * * 1-5' })
      const other = (await s.as('admin', 'globex').get(`/api/v1/jobs/${foreign}`)).body
      expect(other).toMatchObject({ interval_minutes: null })
      const back = await s.as().put(`/api/v1/jobs/${sixHours}`, { interval_minutes: null })
      expect(back.body).toMatchObject({
        schedule_time: '0 */6 * * *',
        next_run_at: '2026-01-05T18:00:00.000Z',
      })
      expect((await s.as('operator').post('/api/v1/jobs/from-cron')).status).toBe(403)
    })
  })

  it(`B18 on ${store} the five lines have their level, message and fields`, async () => {
    const lines: unknown[][] = []
    const write = (level: string) => (fields: object, message: string) => {
      lines.push([level, message, fields])
    }
    const logger = {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    }
    let calls = 0
    const s = await start({
      works: false,
      handlers: {
        'action:crawl': async context => {
          if (++calls === 1) throw new Error('connection timeout')
          await s.clock.sleep(2_500)
          context.measure('items_crawled', 25)
          if (calls === 3) await new Promise(() => {})
        },
      },
    })
    const options = { checkIntervalMs: 10_000, lockDurationMs: 300_000, sourceOf }
    logService(s.engine.events, logger, options)
    await s.until(s.engine.node.start())
    const { id } = (
      await s.as().post('/api/v1/jobs', { ...flatJob, name: 'label', retry_backoff_seconds: 120 })
    ).body
    await s.advance('30m')
    await s.advance('3m')
    await s.advance('31m')
    await s.as().post(`/api/v1/jobs/${id}/unlock`)
    const said = lines.filter(([, message]) => /^[A-Z]/.test(String(message)))
    expect(said.slice(0, 5)).toEqual([
      ['info', 'Starting interval scheduler', { check_interval: '10s', lock_duration: '5m' }],
      ['info', 'Executing job', { job_id: id, source_name: 'example.com', retry_attempt: 0 }],
      [
        'error',
        'Job execution failed',
        { job_id: id, duration: '0s', error: 'connection timeout', retry_in: '120s' },
      ],
      ['info', 'Executing job', { job_id: id, source_name: 'example.com', retry_attempt: 1 }],
      ['info', 'Job completed successfully', { job_id: id, duration: '2.5s', items_crawled: 25 }],
    ])
    expect(said).toContainEqual([
      'warn',
      'Cleared stale lock',
      { job_id: id, lock_age: expect.any(String) as string },
    ])
  })
})
