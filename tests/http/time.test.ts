// Time over HTTP: what comes, what was, and what a cron expression means.

import { describe, expect, it } from 'vitest'
import { startService, type Service, type Wire } from './service.ts'

const work = { handlers: { work: () => null } }

async function make(s: Service, body: object, tenant = 'acme'): Promise<string> {
  const made = await s.as('admin', tenant).post('/api/v1/jobs', { handler: 'work', ...body })
  expect(made.status).toBe(201)
  return made.body.id
}

const fails = () => {
  throw new Error('no such host')
}
const once = { limit: 1, backoff: { kind: 'fixed', delay_seconds: 60 }, exhausted: 'next' }

const list = (body: Wire, field: string) => body[field] as Wire[]

describe('upcoming', () => {
  it('merges the moments of all jobs in the order of time, with crowds', async () => {
    const s = await startService(work)
    await make(s, { name: 'often', trigger: { every: '20m' } })
    await make(s, { name: 'hour', trigger: { cron: '0 * * * *', timezone: 'Europe/Berlin' } })
    const { body } = await s.as('viewer').get('/api/v1/upcoming')
    expect(list(body, 'upcoming').map(one => [one['job_name'], one['at']])).toEqual([
      ['often', '2026-01-05T12:20:00.000Z'],
      ['often', '2026-01-05T12:40:00.000Z'],
    ])
    const longer = await s.as().get('/api/v1/upcoming?to=2026-01-05T13:30:00Z')
    expect(longer.body).toMatchObject({
      jobs: 2,
      moments: 5,
      complete_until: '2026-01-05T13:30:00.000Z',
      crowds: [{ from: '2026-01-05T13:00:00.000Z', count: 2 }],
    })
    expect(list(longer.body, 'upcoming')[3]).toMatchObject({
      local: 'Mon 5 Jan 2026 14:00 CET',
      timezone: 'Europe/Berlin',
      is_estimate: false,
    })
    expect(list(longer.body, 'buckets').reduce((sum, one) => sum + Number(one['count']), 0)).toBe(5)
  })

  it('goes on where a page ended, far ahead and without visiting what lies between', async () => {
    const s = await startService(work)
    await make(s, { trigger: { every: '1s' } })
    const far = '/api/v1/upcoming?from=2027-01-05T12:00:00Z&to=2027-01-05T12:00:10Z'
    const { body } = await s.as().get(`${far}&limit=4`)
    expect(list(body, 'upcoming')[0]!['at']).toBe('2027-01-05T12:00:00.000Z')
    expect(body).toMatchObject({ moments: 10, next_from: '2027-01-05T12:00:04.000Z' })
  })

  it('N1: counts by arithmetic what is too much to step through', async () => {
    const s = await startService({ ...work, works: false })
    await make(s, { trigger: { every: '1s' } })
    const { body } = await s.as().get('/api/v1/upcoming?to=2026-01-12T12:00:00Z')
    expect(body).toMatchObject({
      moments: 7 * 86_400 - 1,
      complete_until: '2026-01-12T12:00:00.000Z',
      is_estimate: false,
    })
  })

  it('N1: says up to when it knows where it cannot look at everything', async () => {
    const s = await startService({ ...work, works: false })
    await make(s, { trigger: { cron: '* * * * * *' } })
    const { body } = await s.as().get('/api/v1/upcoming?to=2026-01-12T12:00:00Z')
    expect(body).toMatchObject({
      moments: 49_999,
      complete_until: '2026-01-06T01:53:20.000Z',
      is_estimate: true,
    })
  })

  it('calls what depends on runs to come an estimate, and knows of a running job', async () => {
    let end = () => {}
    const over = new Promise<void>(resolve => (end = resolve))
    const s = await startService({ handlers: { work: () => over } })
    await make(s, { trigger: { every: '1m', from: 'finish' } })
    await s.advance('1m')
    const { body } = await s.as().get('/api/v1/upcoming?to=2026-01-05T12:02:30Z')
    expect(list(body, 'upcoming')).toMatchObject([
      { at: '2026-01-05T12:02:00.000Z', is_estimate: true },
    ])
    end()
  })

  it('shows nothing of another tenant and refuses a window that makes no sense', async () => {
    const s = await startService(work)
    await make(s, { trigger: { every: '20m' } })
    const other = await s.as('admin', 'globex').get('/api/v1/upcoming?tenant=acme')
    expect(other.body).toMatchObject({ upcoming: [], jobs: 0 })
    for (const query of [
      'from=2026-01-05T13:00:00Z&to=2026-01-05T12:00:00Z',
      'to=2027-01-05T12:00:00Z',
      'to=tomorrow',
    ]) {
      const refused = await s.as().get(`/api/v1/upcoming?${query}`)
      expect(refused.status).toBe(422)
      expect(refused.body.errors[0]!.field).toBe('to')
    }
  })
})

describe('timeline', () => {
  it('has a row for each job: what ran, what comes, how much at once', async () => {
    let end = () => {}
    const over = new Promise<void>(resolve => (end = resolve))
    const s = await startService({ handlers: { work: () => null, held: () => over } })
    const quick = await make(s, { name: 'quick', trigger: { every: '10m' } })
    await s.advance('28m')
    const held = await make(s, { name: 'held', handler: 'held', trigger: { every: '1m' } })
    await s.advance('2m')
    const window = 'from=2026-01-05T12:00:00Z&to=2026-01-05T13:00:00Z'
    const { body } = await s.as().get(`/api/v1/timeline?${window}`)
    const rows = new Map(list(body, 'rows').map(row => [row['job_id'], row]))
    expect([...rows.keys()].map(String).toSorted()).toEqual([quick, held].toSorted())
    const ran = list(rows.get(quick)!, 'runs').map(run => String(run['started_at']))
    expect(ran.toSorted()).toEqual([
      '2026-01-05T12:10:00.000Z',
      '2026-01-05T12:20:00.000Z',
      '2026-01-05T12:30:00.000Z',
    ])
    expect(list(rows.get(quick)!, 'upcoming').map(one => one['at'])).toEqual([
      '2026-01-05T12:40:00.000Z',
      '2026-01-05T12:50:00.000Z',
    ])
    expect(list(rows.get(held)!, 'runs')).toMatchObject([{ status: 'running', finished_at: null }])
    const most = Math.max(...list(body, 'concurrency').map(one => Number(one['running'])))
    expect(most).toBe(2)
    expect(body).toMatchObject({ is_cut: false, now: '2026-01-05T12:30:00.000Z' })
    const one = await s.as().get(`/api/v1/timeline?${window}&job=${quick}`)
    expect(list(one.body, 'rows')).toHaveLength(1)
    const other = s.as('admin', 'globex')
    expect((await other.get(`/api/v1/timeline?${window}&job=${quick}`)).status).toBe(404)
    expect(list((await other.get(`/api/v1/timeline?${window}`)).body, 'rows')).toEqual([])
    end()
  })
})

describe('timeline of many runs', () => {
  it('N1: sums thousands of runs by row and part, and all of them at once', async () => {
    const s = await startService({ handlers: { work: () => null, fails } })
    for (const name of ['a', 'b']) await make(s, { name, trigger: { every: '10s' } })
    await make(s, { name: 'c', handler: 'fails', trigger: { every: '2h' }, retry: once }, 'globex')
    await s.advance('3h')
    const window = 'from=2026-01-05T12:00:00Z&to=2026-01-05T16:00:00Z'
    const { body } = await s.as('admin', '*').get(`/api/v1/timeline?${window}`)
    expect(body).toMatchObject({ completed: 2_160, failed: 1, retried: 1, rows_total: 3 })
    expect(body).toMatchObject({ complete_since: body['from'], complete_until: body['to'] })
    expect(body).toMatchObject({ is_cut: false, starts: 718 })
    const [c, a] = list(body, 'rows')
    expect([c!['label'], list(c!, 'runs')]).toEqual(['c', []])
    expect(list(c!, 'parts')).toMatchObject([{ failed: 1, retried: 1, completed: 0 }])
    // Every part of the three hours that passed has runs: none looks idle.
    const parts = list(a!, 'parts').map(one => Number(one['completed']))
    expect([parts.length, Math.min(...parts.slice(0, 72))]).toEqual([73, 14])
    expect(parts.reduce((x, y) => x + y)).toBe(1_080)
    const concurrency = list(body, 'concurrency').map(one => Number(one['running']))
    expect(Math.min(...concurrency.slice(0, -1))).toBeGreaterThan(0)
    const tenants = await s.as('admin', '*').get(`/api/v1/timeline?${window}&by=tenant`)
    expect(list(tenants.body, 'rows').map(row => row['label'])).toEqual(['globex', 'acme'])
    const nodes = await s.as('admin', '*').get(`/api/v1/timeline?${window}&by=node`)
    expect(list(nodes.body, 'rows')).toHaveLength(1)
  })
})

describe('cron preview', () => {
  const ask = async (body: object) => {
    const s = await startService({ works: false })
    return s.as('viewer').post('/api/v1/cron/preview', body)
  }

  it('tells words, moments in each zone, clock changes and advice', async () => {
    const { status, body } = await ask({
      cron: '30 2 * * *',
      timezones: ['Europe/Berlin', 'UTC', 'America/New_York'],
      count: 2,
      from: '2027-03-27T12:00:00Z',
    })
    expect(status).toBe(200)
    const [berlin, utc] = list(body, 'zones')
    expect(berlin).toMatchObject({
      description: 'At 02:30 every day (Europe/Berlin)',
      dst: { gap: 'shift', fold: 'first' },
    })
    expect(list(berlin!, 'next')[0]).toMatchObject({
      at: '2027-03-28T01:00:00.000Z',
      local: 'Sun 28 Mar 2027 03:00 CEST',
      note: 'dst-gap-shifted',
      gap_ms: null,
    })
    expect(list(berlin!, 'transitions').map(one => one['change_ms'])).toEqual([
      3_600_000, -3_600_000,
    ])
    expect(list(utc!, 'transitions')).toEqual([])
    const burst = await ask({ cron: '* 9 * * *' })
    expect(list(burst.body, 'lints').map(one => one['code'])).toContain('every-minute-of-hour')
  })

  it('compares two expressions over a month', async () => {
    const { body } = await ask({ cron: '0 9 * * *', compare: '0 9 * * 1-5' })
    expect(body['compare']).toMatchObject({ is_same: false, added_count: 0, removed_count: 8 })
    const same = await ask({ cron: '0 9 * * 1-5', compare: '0 9 * * MON-FRI' })
    expect(same.body['compare']).toMatchObject({ is_same: true, removed_count: 0 })
    const wide = await ask({ cron: '* * * * * *', compare: '0 0 1 1 *' })
    expect(wide.body['compare']).toMatchObject({ removed_count: 5_000 })
  })

  it.each([
    [{ cron: '61 * * * *' }, 'cron'],
    [{ cron: '0 0 30 2 *' }, 'cron'],
    [{ cron: '* * * * *', compare: 'never' }, 'compare'],
    [{ cron: '* * * * *', timezones: ['Moon/Base'] }, 'timezones.0'],
    [{ cron: '* * * * *', timezones: ['UTC', 'UTC', 'UTC', 'UTC'] }, 'timezones'],
    [{ cron: '* * * * *', count: 101 }, 'count'],
    [{}, 'cron'],
  ])('refuses %j and names %s', async (body, field) => {
    const refused = await ask(body)
    expect(refused.status).toBe(422)
    expect(refused.body.errors[0]!.field).toBe(field)
  })
})
