// `/metrics` as a scraper reads it: every line, and numbers that can be counted by hand (N4).

import { expect, it } from 'vitest'
import { AlertSender } from '../../src/service/alerts/sender.ts'
import { names, page, tableUnder } from '../docs/pages.ts'
import { openRedis } from '../support/redis.ts'
import { parseExposition, valueOf, type Family } from '../support/exposition.ts'
import { onEachStore, type Start } from './stores.ts'
import { startService, type Service } from './service.ts'

async function scrape(s: Service): Promise<Family[]> {
  const { statusCode, headers, payload } = await s.app.inject({ url: '/metrics' })
  expect(statusCode).toBe(200)
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  return parseExposition(payload)
}

/** The store of a service can stop answering, which is worse than failing. */
function stallable({ engine }: Service) {
  const state = { isStalled: false, counted: 0 }
  const store = new Proxy(engine.store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name === 'counts') state.counted++
      return state.isStalled ? () => new Promise(() => {}) : value
    },
  })
  // Outside of what virtual time waits for: an answer that never comes would stop the clock.
  Object.assign(engine, { store })
  return state
}

const kinds = ['store', 'claim', 'record', 'push', 'cron']

it('N4 every counter and known kind has a sample of 0 before anything happened', async () => {
  const families = await scrape(await startService({ works: false }))
  for (const kind of kinds) {
    expect([kind, valueOf(families, 'carillon_errors_total', { kind })]).toEqual([kind, 0])
  }
  const queue = 'default'
  for (const outcome of ['succeeded', 'failed', 'timedOut', 'abandoned', 'interrupted']) {
    expect(valueOf(families, 'carillon_attempts_total', { queue, outcome })).toBe(0)
  }
  expect(valueOf(families, 'carillon_skipped_total', { reason: 'missed' })).toBe(0)
  const code = 'store_unreachable'
  expect(valueOf(families, 'carillon_store_call_errors_total', { code })).toBe(0)
  expect(valueOf(families, 'carillon_start_lateness_seconds_count', { queue })).toBe(0)
  expect(valueOf(families, 'carillon_attempt_duration_seconds_count', { queue })).toBe(0)
  expect(valueOf(families, 'carillon_queue_due', { queue })).toBe(0)
  expect(valueOf(families, 'carillon_last_tick_timestamp_seconds')).toBeUndefined()
  const counters = families.filter(({ type }) => type === 'counter')
  expect(counters.flatMap(({ series }) => series).every(({ value }) => value === 0)).toBe(true)
})

function countsQueues(store: string, start: Start): void {
  it(`N4 queues of the store are counted: waiting, due, oldest due, running; on ${store}`, async () => {
    const s = await start({ works: false })
    const operator = s.as('operator')
    for (let i = 0; i < 3; i++)
      await operator.post('/api/v1/tasks', { user_id: 'ana', queue: 'mail' })
    await s.advance('90s')
    const later = new Date(s.now + 3_600_000).toISOString()
    const pushed = await operator.post('/api/v1/tasks', {
      user_id: 'ana',
      queue: 'mail',
      not_before: later,
    })
    expect(pushed.status).toBe(201)
    await operator.post('/api/v1/tasks', { user_id: 'ana', queue: 'a "b"\\c' })
    const claim = { worker: 'w', queues: ['mail'], limit: 1 }
    const claimed = await operator.post('/api/v1/tasks/claim', claim)
    expect(claimed.status).toBe(200)
    const families = await scrape(s)
    const of = (name: string, queue: string) =>
      valueOf(families, `carillon_queue_${name}`, { queue })
    expect(of('waiting', 'mail')).toBe(3)
    expect(of('due', 'mail')).toBe(2)
    expect(of('running', 'mail')).toBe(1)
    expect(of('oldest_due_seconds', 'mail')).toBeCloseTo(90, 0)
    expect(of('waiting', 'a "b"\\c')).toBe(1)
    expect(of('oldest_due_seconds', 'default')).toBe(0)
    expect(valueOf(families, 'carillon_jobs', { state: 'waiting' })).toBe(4)
    expect(valueOf(families, 'carillon_jobs', { state: 'running' })).toBe(1)
  })
}

onEachStore(countsQueues)
countsQueues('redis', options => startService({ open: openRedis, ...options }))

it('N4 outcomes, durations and lateness are counted by queue; slots and ticks are shown', async () => {
  let release = () => {}
  const s = await startService({
    settings: { slots: 7 },
    handlers: {
      task: ({ payload }) => {
        const { what } = payload as { what: string }
        if (what === 'fail') throw new Error('no')
        return what === 'wait'
          ? new Promise<null>(resolve => (release = () => resolve(null)))
          : null
      },
    },
  })
  const operator = s.as('operator')
  const push = (what: string) =>
    operator.post('/api/v1/tasks', { user_id: 'ana', payload: { what } })
  await push('go')
  await push('go')
  await push('fail')
  await push('wait')
  await s.advance('500ms')
  const during = await scrape(s)
  expect(valueOf(during, 'carillon_slots')).toBe(7)
  expect(valueOf(during, 'carillon_slots_in_use')).toBe(1)
  const queue = 'default'
  const ended = (families: Family[], outcome: string) =>
    valueOf(families, 'carillon_attempts_total', { queue, outcome })
  expect([ended(during, 'succeeded'), ended(during, 'failed')]).toEqual([2, 1])
  await s.advance('10s')
  release()
  await s.advance('1s')
  const after = await scrape(s)
  expect(ended(after, 'succeeded')).toBe(3)
  const failed = ended(after, 'failed')!
  expect(valueOf(after, 'carillon_attempt_duration_seconds_count', { queue })).toBe(3 + failed)
  const upTo = (le: string) =>
    valueOf(after, 'carillon_attempt_duration_seconds_bucket', { queue, le })
  expect(upTo('30')! - upTo('10')!).toBe(1)
  expect(valueOf(after, 'carillon_start_lateness_seconds_count', { queue })).toBe(4)
  expect(valueOf(after, 'carillon_uptime_seconds')).toBeGreaterThanOrEqual(11)
  expect(valueOf(after, 'carillon_store_up')).toBe(1)
  expect(valueOf(after, 'carillon_last_tick_timestamp_seconds')).toBeGreaterThan(
    s.now / 1_000 - 3_600,
  )
  expect(valueOf(after, 'carillon_store_call_seconds_count')).toBeGreaterThan(4)
})

it('N4 at most 50 queues are named, the others are one and keep it', async () => {
  const s = await startService({ works: false })
  const operator = s.as('operator')
  const tasks = Array.from({ length: 60 }, (_, i) => ({ user_id: 'ana', queue: `q${i}` }))
  expect((await operator.post('/api/v1/tasks/batch', { tasks })).status).toBe(201)
  await s.advance('30s')
  const families = await scrape(s)
  const waiting = families.find(({ name }) => name === 'carillon_queue_waiting')!.series
  expect(waiting).toHaveLength(51)
  expect(waiting.reduce((sum, { value }) => sum + value, 0)).toBe(60)
  const others = (name: string) => valueOf(families, `carillon_queue_${name}`, { queue: 'other' })
  expect([others('waiting'), others('due')]).toEqual([11, 11])
  expect(others('oldest_due_seconds')).toBeCloseTo(30, 0)
  await s.advance('10s')
  const again = await scrape(s)
  const labels = (all: Family[]) =>
    all
      .find(({ name }) => name === 'carillon_attempts_total')!
      .series.map(one => one.labels['queue'])
  expect(labels(again)).toEqual(labels(families))
})

it('N4 a store that does not answer delays a scrape by less than 2 s and hides its gauges', async () => {
  const s = await startService({ works: false })
  const state = stallable(s)
  expect(valueOf(await scrape(s), 'carillon_store_up')).toBe(1)
  expect(state.counted).toBe(1)
  await scrape(s)
  expect(state.counted).toBe(1)
  await s.advance('6s')
  await scrape(s)
  expect(state.counted).toBe(2)
  await s.advance('6s')
  state.isStalled = true
  for (const _ of [1, 2]) {
    const before = s.now
    const families = await s.until(scrape(s))
    expect(s.now - before).toBeLessThan(2_000)
    expect(valueOf(families, 'carillon_store_up')).toBe(0)
    const shown = families.map(({ name }) => name)
    expect(shown.filter(name => /^carillon_(queue_|jobs$)/.test(name))).toEqual([])
    expect(shown).toContain('carillon_attempts_total')
  }
  // The counting that never came back is not begun anew by every scrape.
  expect(state.counted).toBe(3)
})

it('N4 the page on metrics lists every metric with its type and labels', async () => {
  const s = await startService()
  await s.advance('10s')
  const alerts = new AlertSender({
    clock: s.clock,
    log: null,
    post: async () => ({ kind: 'done' }),
  })
  const families = [...(await scrape(s)), ...parseExposition(alerts.text())]
  const known = families.map(({ name, type, series }) => {
    const labels = new Set(series.flatMap(one => Object.keys(one.labels)))
    labels.delete('le')
    return [name, type, ...[...labels].sort()].join(' ')
  })
  const { text } = page('docs/reference/metrics.md')
  const described = ['This node', 'Queues', 'Work', 'The store', 'Alerts']
    .flatMap(heading => tableUnder(text, heading))
    .map(([name, type, labels]) => [names(name!)[0]!, type!, ...names(labels!).sort()].join(' '))
  expect(described.sort()).toEqual(known.sort())
})
