// Crawl jobs over HTTP: making, reading, listing, editing, removing (B1, B2, B15, B17).

import { describe, expect, it } from 'vitest'
import { flatJob } from './service.ts'
import { onThreeStores } from './stores.ts'

const once = { source_id: 'news-site', source_name: 'example.com', url: 'https://example.com' }

onThreeStores((store, start) => {
  describe(`B1 intervals on ${store}`, () => {
    it.each([
      [{ interval_minutes: 30, interval_type: 'minutes' }, '2026-01-05T12:30:00.000Z'],
      [{ interval_minutes: 6, interval_type: 'hours' }, '2026-01-05T18:00:00.000Z'],
      [{ interval_minutes: 1, interval_type: 'days' }, '2026-01-06T12:00:00.000Z'],
      [{ interval_minutes: 45 }, '2026-01-05T12:45:00.000Z'],
    ])('B1 %j first runs at %s', async (interval, next_run_at) => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', { ...once, ...interval })
      expect(made.status).toBe(201)
      const unit = 'interval_type' in interval ? interval.interval_type : 'minutes'
      expect(made.body).toMatchObject({ ...interval, interval_type: unit, next_run_at })
    })

    it.each([
      [{ interval_minutes: 30, interval_type: 'weeks' }, 'interval_type'],
      [{ interval_minutes: 30, interval_type: 7 }, 'interval_type'],
      [{ interval_minutes: 0, interval_type: 'minutes' }, 'interval_minutes'],
      [{ interval_minutes: -5 }, 'interval_minutes'],
      [{ interval_minutes: 1.5 }, 'interval_minutes'],
      [{ interval_minutes: '30' }, 'interval_minutes'],
      [{ interval_minutes: 400, interval_type: 'days' }, 'interval_minutes'],
    ])('B1 %j is refused with 400 and names %s', async (interval, field) => {
      const s = await start()
      const refused = await s.as().post('/api/v1/jobs', { ...once, ...interval })
      expect(refused.status).toBe(400)
      expect(refused.body.errors.map(error => error.field)).toEqual([field])
      expect((await s.as().get('/api/v1/jobs')).body.total).toBe(0)
    })
  })

  describe(`B2 create on ${store}`, () => {
    it('B2 an interval job is scheduled one interval from now, with the defaults', async () => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', flatJob)
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        status: 'scheduled',
        next_run_at: '2026-01-05T12:30:00.000Z',
        max_retries: 3,
        retry_backoff_seconds: 60,
        timeout_seconds: null,
      })
      const native = await s.as().get(`/api/v1/jobs/${made.body.id}?form=native`)
      expect(native.body['trigger']).toMatchObject({ every: 1_800_000, from: 'finish' })
      expect(made.headers['location']).toBe(`/api/v1/jobs/${made.body.id}`)
      expect((await s.as().get(`/api/v1/jobs/${made.body.id}`)).body).toEqual(made.body)
    })

    it.each([
      ['without an interval', once],
      ['switched off', { ...flatJob, schedule_enabled: false }],
      ['switched on without an interval', { ...once, schedule_enabled: true }],
    ])('B2 a job %s is pending and runs once at once', async (_what, body) => {
      const s = await start({ works: false })
      const made = await s.as().post('/api/v1/jobs', body)
      expect(made.body).toMatchObject({
        status: 'pending',
        next_run_at: '2026-01-05T12:00:00.000Z',
      })
      await s.until(s.engine.node.start())
      await s.advance('1s')
      const after = await s.as().get(`/api/v1/jobs/${made.body.id}`)
      expect(after.body).toMatchObject({ status: 'completed', next_run_at: null })
    })

    it('B2 schedule_time is cron in UTC, and the interval wins over it', async () => {
      const s = await start()
      const cron = await s.as().post('/api/v1/jobs', { ...once, schedule_time: '0 */6 * * *' })
      expect(cron.body).toMatchObject({
        status: 'scheduled',
        schedule_enabled: true,
        next_run_at: '2026-01-05T18:00:00.000Z',
      })
      const native = await s.as().get(`/api/v1/jobs/${cron.body.id}?form=native`)
      const trigger = { cron: '0 */6 * * *', timezone: 'UTC', dialect: 'extended' }
      expect(native.body['trigger']).toMatchObject(trigger)
      const both = await s.as().post('/api/v1/jobs', { ...flatJob, schedule_time: '0 * * * *' })
      expect(both.body).toMatchObject({
        next_run_at: '2026-01-05T12:30:00.000Z',
        schedule_time: '0 * * * *',
      })
    })

    it('B2 all problems are told at once, each with field, value and rule', async () => {
      const s = await start()
      const refused = await s.as().post('/api/v1/jobs', {
        interval_minutes: 0,
        interval_type: 'weeks',
        schedule_time: '99 * * * *',
        max_retries: -1,
        status: 'running',
        colour: 'red',
      })
      expect(refused.status).toBe(400)
      expect(refused.headers['content-type']).toContain('application/problem+json')
      expect(refused.body.type).toBe('/problems/invalid-request')
      const fields = refused.body.errors.map(error => error.field).toSorted()
      expect(fields).toEqual([
        'colour',
        'interval_minutes',
        'interval_type',
        'max_retries',
        'schedule_time',
        'source_id',
        'status',
        'url',
      ])
      for (const { rule } of refused.body.errors) expect(rule).not.toBe('')
    })

    it.each([
      'not a url',
      'ftp://example.com/a',
      'file:///etc/passwd',
      'http://127.0.0.1/',
      'http://169.254.169.254/latest/meta-data',
      'http://user:secret@example.com/',
      'http://example.com:22/',
    ])('B13 the url %s is refused', async url => {
      const s = await start()
      const refused = await s.as().post('/api/v1/jobs', { ...once, url })
      expect(refused.status).toBe(400)
      expect(new Set(refused.body.errors.map(error => error.field))).toEqual(new Set(['url']))
    })

    it('takes the native form: trigger, action, policies', async () => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', {
        name: 'nightly',
        trigger: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
        action: { kind: 'http', url: 'https://example.com/hook', headers: { 'x-key': 'k-123456' } },
        payload: { a: 1 },
        user_id: 'ana',
        priority: 'HIGH',
        queue: 'night',
        retry: { limit: 5, backoff: { kind: 'fixed', delay_seconds: 10 } },
        timeout_seconds: 30,
        overlap: { policy: 'queue', limit: 2 },
        missed: { policy: 'all', max: 5, max_age_seconds: 3600 },
        metadata: { team: 'ops' },
      })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        name: 'nightly',
        status: 'scheduled',
        next_run_at: '2026-01-06T01:30:00.000Z',
        handler: 'action:http',
        action: { kind: 'http', url: 'https://example.com/hook', headers: { 'x-key': '***' } },
        payload: { a: 1 },
        user_id: 'ana',
        priority: 4,
        queue: 'night',
        retry: { limit: 5, backoff: { kind: 'fixed', delay_seconds: 10 }, exhausted: 'next' },
        timeout_seconds: 30,
        overlap: { policy: 'queue', limit: 2 },
        missed: { policy: 'all', max: 5, max_age_seconds: 3600 },
        metadata: { team: 'ops' },
      })
      expect((await s.engine.client.get(made.body.id)).spec.lane).toBe('acme/ana')
    })

    it.each([
      [{ trigger: { every: '0s' } }, ['trigger.every']],
      [{ trigger: { cron: '61 * * * *' } }, ['trigger.cron']],
      [{ trigger: { cron: '* * * * *', timezone: 'Mars/Olympus' } }, ['trigger.timezone']],
      [{ trigger: { at: 'tomorrow' } }, ['trigger.at']],
      [{ trigger: { every: '1h' }, interval_minutes: 5 }, ['interval_minutes']],
      [{ trigger: { every: '1h' }, first: 'ifDue' }, ['first']],
      [{ trigger: { every: '1h' }, retry: {}, max_retries: 1 }, ['max_retries']],
      [{ trigger: { every: '1h', from: 'finish' }, overlap: 'allow' }, ['overlap']],
      [{ trigger: { every: '1h' }, overlap: 'never', missed: 'all' }, ['overlap', 'missed']],
      [{ action: { kind: 'dance' } }, ['action.kind']],
      [{ action: undefined, handler: '__proto__' }, ['handler']],
      [{ action: undefined, handler: 'action:http' }, ['handler']],
      [{ priority: 9 }, ['priority']],
      [{ metadata: { 'carillon:flat': {} } }, ['metadata']],
      [{ tenant: 'globex' }, ['tenant']],
    ])('refuses %j and names %j', async (more, fields) => {
      const s = await start()
      const base = { action: { kind: 'http', url: 'https://example.com/hook' } }
      const refused = await s.as().post('/api/v1/jobs', { ...base, ...more })
      expect(refused.status).toBe(400)
      expect(refused.body.errors.map(error => error.field)).toEqual(fields)
      expect(refused.body.detail).not.toMatch(/invalid input/i)
    })
  })

  it(`B17 on ${store} the job has every column of the original, lock fields included`, async () => {
    const s = await start({ handlers: { 'action:crawl': () => new Promise(() => {}) } })
    const made = await s.as().post('/api/v1/jobs', { ...flatJob, metadata: { category: 'news' } })
    await s.advance('30m')
    const { body } = await s.as().get(`/api/v1/jobs/${made.body.id}`)
    expect(body).toMatchObject({
      id: made.body.id,
      source_id: 'news-site',
      source_name: 'example.com',
      url: 'https://example.com',
      status: 'running',
      created_at: '2026-01-05T12:00:00.000Z',
      started_at: '2026-01-05T12:30:00.000Z',
      completed_at: null,
      error_message: null,
      interval_minutes: 30,
      interval_type: 'minutes',
      next_run_at: null,
      is_paused: false,
      paused_at: null,
      cancelled_at: null,
      max_retries: 3,
      retry_backoff_seconds: 60,
      current_retry_count: 0,
      lock_token: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-/),
      lock_acquired_at: '2026-01-05T12:30:00.000Z',
      metadata: { category: 'news' },
      schedule_time: null,
      schedule_enabled: true,
    })
    expect(body['updated_at']).toBeDefined()
    // What it shows tells leases apart and settles nothing.
    const { lease } = await s.engine.client.get(made.body.id)
    expect(body['lock_token']).not.toBe(lease!.token)
  })
})
