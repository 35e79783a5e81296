// Numbers over thousands of jobs: counted, or marked as what is not known.

import { describe, expect, it } from 'vitest'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { HOUR, iso, MINUTE, SECOND } from '../../src/core/time.ts'
import { openRedis } from '../support/redis.ts'
import { openPostgres } from '../support/postgres.ts'
import { openSqlite } from '../support/sqlite.ts'
import { openMemory } from '../support/stores.ts'
import { startService, type Service, type Wire } from './service.ts'

const T0 = Date.parse('2026-01-05T12:00:00Z')
const list = (body: Wire, field: string) => body[field] as Wire[]
const counts = (body: Wire, field = 'buckets') => list(body, field).map(one => Number(one['count']))
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/** An hourly job that is due so long after the begin. */
function hourly(id: string, dueMs: number, spec: Partial<JobSpec> = {}): Job {
  const trigger = { kind: 'interval', everyMs: HOUR, from: 'schedule', anchor: T0 + dueMs } as const
  return createJob({ id, spec: completeSpec({ handler: 'work', trigger, name: id, ...spec }) }, T0)
}

async function fill(s: Service, jobs: readonly Job[]): Promise<void> {
  for (let at = 0; at < jobs.length; at += 1_000) {
    await s.engine.store.insert(jobs.slice(at, at + 1_000), { now: T0 })
  }
}

/** 3,000 of one tenant, spread evenly over the hour, and 7,000 of another at three moments. */
function tenThousand(): Job[] {
  const even = Array.from({ length: 3_000 }, (_, i) =>
    hourly(`even-${String(i).padStart(4, '0')}`, 1_200 * (i + 1) - 600, { tenant: 'acme' }),
  )
  const crowds = Array.from({ length: 7_000 }, (_, i) =>
    hourly(`crowd-${String(i).padStart(4, '0')}`, (20 + 15 * (i % 3)) * MINUTE, {
      tenant: 'globex',
    }),
  )
  return [...crowds, ...even]
}

const stores = [
  ['memory', openMemory],
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
  ['redis', openRedis],
] as const

describe.each(stores)('10,000 jobs on %s', (_name, open) => {
  it('N1: counts every start and sorts by the next run', { timeout: 120_000 }, async () => {
    const s = await startService({ open, works: false })
    await fill(s, tenThousand())
    const viewer = s.as('viewer')

    const { body: hour } = await viewer.get('/api/v1/upcoming?limit=20')
    expect(hour).toMatchObject({ jobs: 3_000, jobs_looked_at: 3_000, moments: 3_000 })
    expect(hour).toMatchObject({ overdue: 0, is_estimate: false, complete_until: hour['to'] })
    expect(counts(hour)).toEqual(Array.from({ length: 60 }, () => 50))
    expect(list(hour, 'upcoming').map(one => one['job_id'])).toEqual(
      Array.from({ length: 20 }, (_each, i) => `even-${String(i).padStart(4, '0')}`),
    )
    const { body: day } = await viewer.get(`/api/v1/upcoming?to=${iso(T0 + 24 * HOUR)}`)
    expect(day).toMatchObject({ moments: 72_000, is_estimate: false })
    expect(counts(day)).toEqual(Array.from({ length: 60 }, () => 1_200))

    const everyone = s.as('admin', '*')
    const { body: all } = await everyone.get('/api/v1/upcoming?limit=1')
    expect(all).toMatchObject({ jobs: 10_000, moments: 10_000, is_estimate: false })
    expect(list(all, 'crowds')[0]).toMatchObject({ from: iso(T0 + 20 * MINUTE), count: 2_384 })

    const due = await viewer.get('/api/v1/jobs?next=<30m&limit=1')
    expect(due.body).toMatchObject({ total: 1_500 })
    const most = await everyone.get('/api/v1/jobs?next=<51m&sort=next_run_at&limit=1&offset=9549')
    expect(most.body).toMatchObject({ total: 9_550, jobs: [{ id: 'even-2549' }] })

    const read = async (query: string) => {
      const { status, body } = await everyone.get(`/api/v1/jobs?limit=100&${query}`)
      expect([status, body['total']]).toEqual([200, 10_000])
      return list(body, 'jobs').map(job => [String(job['next_run_at']), job['id']] as const)
    }
    const first = await read('sort=next_run_at')
    const last = await read('sort=next_run_at&offset=9900')
    const back = await read('sort=-next_run_at')
    for (const page of [first, last]) {
      expect(page).toHaveLength(100)
      expect(page.map(([at]) => at)).toEqual(page.map(([at]) => at).toSorted())
    }
    expect(first[0]).toEqual([iso(T0 + 600), 'even-0000'])
    expect(last.at(-1)).toEqual([iso(T0 + HOUR - 600), 'even-2999'])
    expect(back).toEqual(last.toReversed())
    const past = await everyone.get('/api/v1/jobs?sort=next_run_at&offset=10000')
    expect(past.body).toMatchObject({ jobs: [], total: 10_000 })
  })
})

it('N1: lists jobs without a next run behind the others, however many there are', async () => {
  const s = await startService({ open: openMemory, works: false })
  const many = Array.from({ length: 5_100 }, (_, i) => hourly(`j${i}`, SECOND * (1 + (i % 3_000))))
  const manual = completeSpec({ handler: 'work', trigger: { kind: 'manual' }, name: 'manual' })
  const paused: Job = {
    ...hourly('paused', MINUTE),
    state: 'paused',
    dueAt: null,
    pause: { at: T0, until: null, note: null },
  }
  await fill(s, [createJob({ id: 'manual', spec: manual }, T0), paused, ...many])
  const ids = async (query: string) => {
    const { body } = await s.as('admin', '*').get(`/api/v1/jobs?${query}`)
    expect(body['total']).toBe(5_102)
    return list(body, 'jobs').map(({ id }) => id)
  }
  expect(await ids('sort=next_run_at&offset=5098&limit=5')).toEqual([
    'j2998',
    'j2999',
    'paused',
    'manual',
  ])
  expect(await ids('sort=-next_run_at&offset=5100')).toEqual(['paused', 'manual'])
  expect((await ids('sort=-next_run_at&limit=1'))[0]).toBe('j2999')
})

it('N1: says what it does not know where more jobs come than it looks at', async () => {
  const s = await startService({ open: openMemory, works: false })
  const often = { kind: 'interval', everyMs: 10 * MINUTE, from: 'schedule' } as const
  const jobs = Array.from({ length: 12_000 }, (_, i) =>
    hourly(`j${i}`, 0, { trigger: { ...often, anchor: T0 + 50 * (i + 1) } }),
  )
  await fill(s, jobs)
  const { body } = await s.as('admin', '*').get('/api/v1/upcoming?limit=1')
  expect(body).toMatchObject({ jobs: 12_000, jobs_looked_at: 10_000, is_estimate: true })
  // All first firings are counted; the further ones of 2,000 jobs are not known.
  expect(body).toMatchObject({ complete_until: iso(T0 + 500_000), moments: 62_000 })
  expect(sum(counts(body))).toBe(62_000)
})
