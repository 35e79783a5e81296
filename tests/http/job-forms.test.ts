// H2: a job is read in the form it was made in, and what was read can be sent back with one change.

import { expect, it } from 'vitest'
import { sourceOf } from '../../src/service/compat/crawl-jobs/flat.ts'
import { logService } from '../../src/service/service-log.ts'
import type { Answered } from './service.ts'
import { flatJob, startService } from './service.ts'
import { onEachStore } from './stores.ts'

const JOBS = '/api/v1/jobs'
const nativeJob = {
  name: 'report',
  trigger: { every: '1h' },
  action: { kind: 'http', url: 'https://example.com/hook?key=k', headers: { 'x-key': 'k-123456' } },
  payload: { a: 1 },
}
const crawlWords = /source_|interval_|schedule_time|schedule_enabled|max_retries|backoff_seconds/
const crawlOnly = ['source_id', 'source_name', 'url', 'interval_minutes', 'interval_type']
const nativeOnly = ['trigger', 'handler', 'action', 'payload', 'retry']

const problems = ({ body }: Answered) => body.errors.map(({ field, rule }) => `${field} ${rule}`)

onEachStore((store, start) => {
  it(`H2 on ${store} the form follows the job, and form asks for the other`, async () => {
    const s = await start({ works: false })
    const [flat, native] = await Promise.all(
      [flatJob, nativeJob].map(async job => (await s.as().post(JOBS, job)).body),
    )
    expect([flat!['form'], native!['form']]).toEqual(['crawl', 'native'])
    for (const field of nativeOnly) expect(flat).not.toHaveProperty([field])
    for (const field of crawlOnly) expect(native).not.toHaveProperty([field])
    expect(Object.keys(native!).join()).not.toMatch(crawlWords)
    expect(flat).toMatchObject({ ...flatJob, max_retries: 3, lock_token: null })
    const read = async (id: string, form = '') => (await s.as().get(`${JOBS}/${id}${form}`)).body
    expect([await read(flat!.id), await read(native!.id)]).toEqual([flat, native])
    expect(await read(native!.id, '?form=crawl')).toMatchObject({
      source_name: null,
      interval_minutes: 1,
      interval_type: 'hours',
      max_retries: 3,
    })
    const whole = await read(flat!.id, '?form=native')
    expect(whole).toMatchObject({ trigger: { every: 1_800_000 }, retry: { limit: 3 } })
    for (const field of crawlOnly) expect(whole).not.toHaveProperty([field])
    const wrong = await s.as().get(`${JOBS}/${flat!.id}?form=xml`)
    expect([wrong.status, problems(wrong)]).toEqual([
      400,
      ['form must be one of crawl, native, both'],
    ])
    const { jobs } = (await s.as().get(`${JOBS}?sort=created_at`)).body
    expect(jobs).toEqual(expect.arrayContaining([flat, native]))
    const paused = await s.as().post(`${JOBS}/${native!.id}/pause`)
    expect(Object.keys(paused.body).join()).not.toMatch(crawlWords)
  })
})

onEachStore((store, start) => {
  it.each([
    ['crawl', flatJob, { max_retries: 7 }, { limit: 7 }],
    ['crawl', flatJob, { interval_minutes: 45 }, { everyMs: 2_700_000 }],
    ['native', flatJob, { retry: { limit: 7 } }, { limit: 7 }],
    ['both', flatJob, { max_retries: 7 }, { limit: 7 }],
    ['native', nativeJob, { retry: { limit: 7 } }, { limit: 7 }],
    ['native', nativeJob, { trigger: { every: '45m' } }, { everyMs: 2_700_000 }],
    ['crawl', nativeJob, { max_retries: 7 }, { limit: 7 }],
    [
      'crawl',
      nativeJob,
      { interval_minutes: 45, interval_type: 'minutes' },
      { everyMs: 2_700_000 },
    ],
    ['both', nativeJob, { priority: 5 }, {}],
    [
      'native',
      { ...nativeJob, action: undefined, handler: 'work' },
      { retry: { limit: 7 } },
      { limit: 7 },
    ],
    [
      'crawl',
      { ...nativeJob, action: undefined, handler: 'work' },
      { max_retries: 7 },
      { limit: 7 },
    ],
  ])(`H2 on ${store} in the %s form %j is read, changed by %j and put back`, async (...row) => {
    const [form, given, change, { limit = 3, everyMs }] = row as unknown as [
      string,
      object,
      object,
      { limit?: number; everyMs?: number },
    ]
    const s = await start({ works: false, handlers: { work: () => null } })
    const { id, ...made } = (await s.as().post(JOBS, given)).body
    const before = (await s.engine.client.get(id)).spec
    const url = `${JOBS}/${id}?form=${form}`
    const read = (await s.as().get(url)).body
    const same = await s.as().put(url, read)
    expect([same.status, same.body]).toEqual([200, read])
    const put = await s.as().put(url, { ...read, ...change })
    expect(put.status).toBe(200)
    expect(put.body).toMatchObject({ form: made['form'], revision: 2 })
    const after = (await s.engine.client.get(id)).spec
    expect(after.retry).toEqual({ ...before.retry, limit })
    const trigger = everyMs === undefined ? before.trigger : { ...before.trigger, everyMs }
    expect([after.trigger, after.payload]).toEqual([trigger, before.payload])
  })
})

it('H2 real contradictions are named, and what only the service sets', async () => {
  const s = await startService({ works: false })
  const { id } = (await s.as().post(JOBS, flatJob)).body
  const url = `${JOBS}/${id}?form=both`
  const read = (await s.as().get(url)).body
  const both = {
    interval_minutes: 45,
    trigger: { every: '1h' },
    max_retries: 1,
    retry: { limit: 2 },
  }
  const refused = await s.as().put(url, { ...read, ...both, run_count: 9, status: 'paused' })
  expect([refused.status, problems(refused)]).toEqual([
    400,
    ['interval_minutes cannot be given with trigger', 'max_retries cannot be given with retry'],
  ])
  const owned = await s.as().put(url, { ...read, run_count: 9, status: 'paused' })
  expect(problems(owned).toSorted()).toEqual([
    'run_count is given by the service',
    'status is given by the service',
  ])
  expect((await s.as().get(url)).body).toEqual(read)
})

it('H2 a job made natively is not turned into a crawl', async () => {
  const s = await startService({ works: false, handlers: { work: () => null } })
  const { id } = (await s.as().post(JOBS, nativeJob)).body
  const moved = await s.as().patch(`${JOBS}/${id}`, { url: 'https://example.com/other' })
  expect(moved.body).toMatchObject({
    form: 'native',
    action: { kind: 'http', url: 'https://example.com/other' },
  })
  const named = await s.as().patch(`${JOBS}/${id}`, { source_name: 'x' })
  expect([named.status, problems(named)]).toEqual([
    400,
    ['source_name is of jobs made with it; give this one a name or tags'],
  ])
  const other = (await s.as().post(JOBS, { handler: 'work' })).body
  const lost = await s.as().patch(`${JOBS}/${other.id}`, { url: 'https://example.com/' })
  expect([lost.status, problems(lost)]).toEqual([
    400,
    ['url cannot be set: this job calls a handler or an action without an address'],
  ])
})

it('H2 executions of native jobs have no fields of crawls', async () => {
  const s = await startService({ handlers: { work: () => null } })
  const [native, flat] = await Promise.all(
    [{ handler: 'work' }, { ...flatJob, first: 'now' }].map(
      async job => (await s.as().post(JOBS, job)).body.id,
    ),
  )
  await s.advance('1s')
  const [own] = (await s.as().get(`${JOBS}/${native}/executions`)).body.executions
  expect(Object.keys(own!).join()).not.toMatch(/items_|crawl/)
  const [one] = (await s.as().get(`${JOBS}/${flat}/executions`)).body.executions
  expect(one).toMatchObject({ items_crawled: 25, items_indexed: 23 })
  const run = (await s.as().get(`/api/v1/runs/${own!.run_id}`)).body
  expect(JSON.stringify(run)).not.toMatch(/items_|crawl/)
})

it('H2 lines about native jobs have no fields of crawls', async () => {
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
  const s = await startService({ handlers: { work: () => null } })
  logService(s.engine.events, logger, { checkIntervalMs: 1, lockDurationMs: 1, sourceOf })
  const { id } = (await s.as().post('/api/v1/jobs', { handler: 'work', name: 'label' })).body
  await s.advance('1s')
  expect(lines.filter(([, message]) => /^(?:Executing|Job)/.test(String(message)))).toEqual([
    ['info', 'Executing job', { job_id: id, job_name: 'label', retry_attempt: 0 }],
    ['info', 'Job completed successfully', { job_id: id, duration: '0s' }],
  ])
  expect(JSON.stringify(lines)).not.toMatch(/source_|items_|crawl/)
})
