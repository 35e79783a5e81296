// The shortest interval of tenants holds on every route that makes or changes what fires repeatedly.

import { describe, expect, test } from 'vitest'
import { startService, type Answered, type Caller, type Service } from './service.ts'
import { dailyReport, reportFlow } from './schedule-parts.ts'

const RULE = /at least 60000 ms .*\(intervalMsMin\) with a token of one tenant/
const handlers = { work: async () => null }

async function start(intervalMsMin = 60_000): Promise<Service> {
  const s = await startService({ works: false, handlers, http: { intervalMsMin } })
  for (const tenant of ['acme', 'other'])
    await s.as('admin', tenant).post('/api/v1/workflows', reportFlow)
  return s
}

/** Not valid because of this field alone. */
function refusedAt(answer: Answered, field: string): void {
  expect(answer.text).toMatch(RULE)
  expect([400, 422]).toContain(answer.status)
  expect(answer.body.errors).toMatchObject([{ field }])
  expect(answer.body.detail).toContain(field)
}

const job = { handler: 'work', name: 'j' }
const source = {
  name: 's',
  url: 'https://example.com/rows',
  schedule: 'interval:1s',
  table: 'rows',
  response: { fields: [{ source: 'id', target: 'id' }] },
}
const fair = { cron: '*/30 * * * * *', user_id: 'u' }

/** What is too frequent, where it is sent, and the name of the field in the words of that route. */
const routes = [
  ['a native job', '/api/v1/jobs', { ...job, trigger: { every: '59s' } }, 'trigger.every'],
  [
    'a cron job with seconds',
    '/api/v1/jobs',
    { ...job, trigger: { cron: '* * * * * *' } },
    'trigger.cron',
  ],
  [
    'a crawl job',
    '/api/v1/jobs',
    { source_id: 's', url: 'https://example.com', schedule_time: '0,30 * * * * *' },
    'schedule_time',
  ],
  [
    'a schedule of a workflow',
    '/api/v1/schedules',
    { ...dailyReport, interval_seconds: 59 },
    'interval_seconds',
  ],
  ['a source', '/api/v1/sources', source, 'schedule'],
  ['a fair schedule', '/api/v1/fair/schedules', fair, 'cron'],
] as const

describe('S3: creation', () => {
  test.each(routes)('%s below the shortest interval is refused', async (_, url, body, field) => {
    const s = await start()
    refusedAt(await s.as('admin', 'acme').post(url, body), field)
    expect((await s.engine.store.list({ tenant: 'acme' }, { limit: 10 })).items).toEqual([])
    const query = '?tenant=other'
    const isJob = url === '/api/v1/jobs'
    const wide = s.as('admin', '*')
    const made = isJob
      ? await wide.post(url, { ...body, tenant: 'other' })
      : await wide.post(url + query, body)
    expect(made.status).toBe(201)
  })

  test('a schedule with an Idempotency-Key is held to it too', async () => {
    const s = await start()
    const headers = { 'idempotency-key': 'k' }
    const body = { ...dailyReport, interval_seconds: 1 }
    const answer = await s.as('admin', 'acme').post('/api/v1/schedules', body, headers)
    expect(answer.status).toBe(422)
    refusedAt(answer, 'interval_seconds')
  })
})

describe('S3: edits', () => {
  const everyHour = { ...job, trigger: { every: '1h' } }
  const daily = { ...source, schedule: 'daily' }
  const edits = [
    {
      method: 'patch',
      url: '/api/v1/jobs',
      body: everyHour,
      change: { trigger: { every: 20 } },
      field: 'trigger.every',
    },
    {
      method: 'put',
      url: '/api/v1/jobs',
      body: everyHour,
      change: { trigger: { cron: '* * * * * *' } },
      field: 'trigger.cron',
    },
    {
      method: 'patch',
      url: '/api/v1/schedules',
      body: dailyReport,
      change: { interval_seconds: 1 },
      field: 'interval_seconds',
    },
    {
      method: 'patch',
      url: '/api/v1/sources',
      body: daily,
      change: { schedule: 'interval:30s' },
      field: 'schedule',
    },
    { method: 'put', url: '/api/v1/sources', body: daily, change: source, field: 'schedule' },
    {
      method: 'patch',
      url: '/api/v1/fair/schedules',
      body: { ...fair, cron: '@daily' },
      change: { cron: '* * * * * *' },
      field: 'cron',
    },
  ] as const

  test.each(edits)('$method $url', async ({ method, url, body, change, field }) => {
    const s = await start()
    const acme = s.as('admin', 'acme')
    const made = await acme.post(url, body)
    expect(made.status).toBe(201)
    const one = `${url}/${url.endsWith('sources') ? 's' : made.body.id}`
    refusedAt(await acme[method](one, change), field)
  })
})

describe('S3: jobs that are stored keep running, and what else is theirs may change', () => {
  const edits = [
    [
      '/api/v1/schedules',
      { ...dailyReport, interval_seconds: 1 },
      { name: 'n', interval_seconds: 1 },
    ],
    ['/api/v1/sources', source, { url: 'https://example.com/others' }],
    ['/api/v1/fair/schedules', fair, { timezone: 'Europe/Berlin', user_id: 'v' }],
    [
      '/api/v1/jobs',
      { ...job, tenant: 'acme', trigger: { every: 10 } },
      { trigger: { every: 10, from: 'finish' } },
    ],
  ] as const

  test.each(edits)('%s', async (url, body, change) => {
    const s = await start()
    const query = url === '/api/v1/jobs' ? '' : '?tenant=acme'
    const made = await s.as('admin', '*').post(url + query, body)
    expect(made.status).toBe(201)
    const one = `${url}/${url.endsWith('sources') ? 's' : made.body.id}`
    expect((await s.as('admin', 'acme').patch(one, change)).status).toBe(200)
  })

  test('cron times of crawls become intervals of the same pace', async () => {
    const s = await start(3_600_000)
    const body = { source_id: 's', url: 'https://example.com', schedule_time: '*/5 * * * *' }
    const made = await s.as('admin', '*').post('/api/v1/jobs', { ...body, tenant: 'acme' })
    expect(made.status).toBe(201)
    const done = await s.as('admin', 'acme').post('/api/v1/jobs/from-cron', { apply: true })
    expect(done.status).toBe(200)
    expect(done.body['converted']).toMatchObject([{ interval_minutes: 5 }])
  })
})

describe('S3: declared jobs, by plan and by apply', () => {
  const declared = (every: string, mode: string) => ({
    app: 'shop',
    mode,
    jobs: [
      { definition: 'fine', job: { ...job, trigger: { every: '1h' } } },
      { definition: 'fast', job: { ...job, trigger: { every } } },
    ],
  })
  const post = (caller: Caller, body: object) => caller.post('/api/v1/reconcile', body)

  test.each(['plan', 'apply'])('%s names the job and its field, and writes nothing', async mode => {
    const s = await start()
    const refused = await post(s.as('admin', 'acme'), declared('1s', mode))
    expect(refused.status).toBe(422)
    expect(refused.text).toMatch(RULE)
    expect(refused.body.errors).toMatchObject([{ field: 'jobs.1.job.trigger.every' }])
    expect((await s.engine.store.list({ tenant: 'acme' }, { limit: 10 })).items).toEqual([])
  })

  test('what an admin of every tenant declared may be declared again, but not faster', async () => {
    const s = await start()
    const wide = { ...declared('1s', 'apply'), tenant: 'acme' }
    expect((await post(s.as('admin', '*'), wide)).status).toBe(200)
    expect((await post(s.as('admin', 'acme'), declared('1s', 'apply'))).status).toBe(200)
    expect((await post(s.as('admin', 'acme'), declared('2s', 'apply'))).status).toBe(422)
  })
})
