// Requests made at random out of the app's own OpenAPI document, by three tenants in every role:
// no failure of ours, no byte of another tenant, every answer as declared (Z, I, U).

import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { checkJob } from '../support/invariants.ts'
import { openPostgres } from '../support/postgres.ts'
import { openRedis } from '../support/redis.ts'
import { offeredServer } from '../support/servers/shared.ts'
import { openSqliteInMemory } from '../support/sqlite.ts'
import type { OpenStore } from '../support/stores.ts'
import { readDocument, type Operation } from './fuzz/document.ts'
import { listen, startFuzz, weighed, work } from './fuzz/session.ts'
import { callersOf, Holdings, secretOf, tenants, type Caller } from './fuzz/tenants.ts'
import { Watch, wordsOfOthers, type Answer } from './fuzz/watch.ts'
import { startService } from './service.ts'

const stores = { sqlite: openSqliteInMemory, postgres: openPostgres, redis: openRedis } as const
type Name = keyof typeof stores

/** Where there is no server, its share of the requests goes to SQLite. */
async function storeFor(name: Name): Promise<Name> {
  return name !== 'sqlite' && 'missing' in (await offeredServer(name)) ? 'sqlite' : name
}

/**
 * CARILLON_SEED runs one seed again, CARILLON_FUZZ sets how many requests each seed is worth, and
 * CARILLON_FUZZ_STORE names the store they go to: sqlite, postgres or redis.
 */
const only = process.env.CARILLON_SEED
const forced = process.env.CARILLON_FUZZ_STORE as Name | undefined
const shares: [seed: number, store: Name][] = only
  ? [[Number(only), forced ?? 'sqlite']]
  : [
      [1, forced ?? 'sqlite'],
      [2, forced ?? 'sqlite'],
      [3, forced ?? (await storeFor('postgres'))],
      [4, forced ?? (await storeFor('redis'))],
    ]
const PER_SEED = Number(process.env.CARILLON_FUZZ ?? 5_000)
/** A file for what the long form tells of it. */
const REPORT = process.env.CARILLON_FUZZ_REPORT
/** Ends only what hangs: on a busy machine a request may take that long. */
const PER_REQUEST_MS = 300
const READING = 0.15
/** Operations, of 110, that must have succeeded for somebody. */
const REACHED_MIN = 80

interface Storm {
  readonly seed: number
  readonly count: number
  readonly open: OpenStore
}

/** Everybody at random, then readers only while time stands, then a look at what is left. */
async function storm({ seed, count, open: onto }: Storm): Promise<Watch> {
  const fuzz = await startFuzz(seed, onto)
  const { service, watch } = fuzz
  const callers = await callersOf(service)
  const heard = await listen(service, callers)
  expect(heard.length).toBe(tenants.length)
  const reading = Math.round(count * READING)
  await fuzz.go(count - reading, weighed(callers))
  await service.clock.settle()

  const before = await fuzz.kept()
  const readers = callers.filter(({ role }) => role === null || role === 'viewer')
  await fuzz.go(reading, weighed(readers), { stands: true })
  await service.clock.settle()
  if (REPORT !== undefined) writeReport(REPORT, watch)
  expect(watch.failures.join('\n\n')).toBe('')
  expect(await fuzz.kept()).toEqual(before)

  for (const { tenant, text } of heard) {
    expect(wordsOfOthers(tenant, text)).toEqual([])
    expect(fuzz.held.foreign(tenant, text)).toEqual([])
  }
  const jobs = before.flatMap(one => (one.type === 'job' ? [one.job] : []))
  expect(jobs.length).toBeGreaterThan(0)
  expect(jobs.flatMap(checkJob)).toEqual([])
  if (fuzz.store instanceof SqliteStore) expect(await fuzz.store.verify()).toEqual([])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  return watch
}

function writeReport(path: string, { statuses, reached, failures }: Watch): void {
  const report = { statuses: Object.fromEntries(statuses), reached: reached.size, failures }
  writeFileSync(path, JSON.stringify(report))
}

describe('random requests out of the document', () => {
  const rule = 'no 5xx, no foreign byte, every answer as declared'
  it.each(shares)(
    `${rule} (seed %i on %s)`,
    async (seed, store) => {
      const watch = await storm({ seed, count: PER_SEED, open: stores[store] })
      // Otherwise the requests have become too poor to show anything.
      expect(watch.reached.size).toBeGreaterThan(REACHED_MIN)
    },
    Math.max(300_000, PER_SEED * PER_REQUEST_MS),
  )
})

describe('the watch', () => {
  const viewer: Caller = { name: 'v', tenant: 'acme', role: 'viewer', authorization: null }
  const id = '01a1e26b-2973-7000-bc7f-7045b8f3cf5e'
  const schema = { type: 'object', properties: { id: { type: 'string' } } } as const
  const operation: Operation = {
    method: 'GET',
    path: '/api/v1/jobs',
    parameters: [],
    body: null,
    answers: { 200: { content: { 'application/json': { schema } } } },
  }
  const headers = {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': 'r',
  }
  const good: Answer = { status: 200, headers, text: `{"id":"${id}"}` }
  const refusal = { type: '/problems/not-found', title: 't', status: 404, detail: 'd' }
  const problemHeaders = { ...headers, 'content-type': 'application/problem+json' }
  const refused = (body: object): Answer => ({
    status: 404,
    headers: problemHeaders,
    text: JSON.stringify({ ...refusal, request_id: 'r', ...body }),
  })

  async function seen(answer: Answer, method = 'GET', caller = viewer): Promise<string> {
    const s = await startService({ works: false })
    const { text } = await s.caller().get('/openapi.json')
    const held = new Holdings()
    const slugs = ['/problems/not-found']
    const watch = new Watch(1, readDocument(text), { held, slugs, causes: new Map() })
    // Another tenant was given the id of `good` before.
    held.foreign('globex', caller.tenant === 'initech' ? id : '')
    const call = { n: 1, caller, url: operation.path, headers: {}, body: null }
    watch.look({ ...call, method, operation: { ...operation, method } }, answer)
    return watch.failures.join('\n')
  }

  it('lets good answers and refusals pass', async () => {
    expect(await seen(good)).toBe('')
    expect(await seen(refused({}))).toBe('')
  })

  it.each<[string, Answer, string?, Caller?]>([
    ['a failure of ours', { ...good, status: 500 }],
    ['not declared', { ...good, status: 202 }],
    ['is not of type string', { ...good, text: '{"id":1}' }],
    ['hush-globex-hush', { ...good, text: JSON.stringify({ id: secretOf('globex') }) }],
    ['initech', { ...good, text: '{"id":"initech"}' }],
    [`the id ${id} of globex`, good, 'GET', { ...viewer, tenant: 'initech' }],
    ['it was allowed', good, 'POST'],
    ['headers are missing', { ...good, headers: { ...headers, 'cache-control': 'public' } }],
    ['a refusal as application/json', { ...refused({}), headers }],
    ['detail is missing', refused({ detail: undefined })],
    ['unknown type', refused({ type: '/problems/odd' })],
    ['the status in the body', refused({ status: 400 })],
    ['the request id is another one', refused({ request_id: 'q' })],
  ])('notices: %s', async (what, answer, method, caller) => {
    expect(await seen(answer, method, caller)).toContain(what)
  })
})

describe('what it found stays found', () => {
  it.each([
    ['no text', '%FF'],
    ['half an escape', '%'],
    ['far too long', 'x'.repeat(600)],
  ])('an id that is %s is 404', async (_what, id) => {
    const s = await startService({ works: false })
    for (const [method, path] of [
      ['get', `/api/v1/jobs/${id}`],
      ['post', `/api/v1/runs/${id}/cancel`],
    ] as const) {
      const { status, headers, body } = await s.as()[method](path)
      expect(status).toBe(404)
      expect(headers['content-type']).toMatch('application/problem+json')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(body).toMatchObject({ type: '/problems/not-found', status: 404 })
      expect(body.request_id).toBe(headers['x-request-id'])
    }
  })

  it.each(['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-14:00', '0000-01-01T00:00:00+14:00'])(
    'a moment whose followers have no name is refused: %s',
    async at => {
      const s = await startService({ works: false })
      const made = { handler: 'work', trigger: { every: '1d' }, start_at: at }
      const refused = await s.as().post('/api/v1/jobs', made)
      expect(refused.status).toBe(400)
      expect(refused.body.errors).toEqual([
        { field: 'start_at', value: at, rule: 'must be between the years 1 and 9000' },
      ])
      const span = `from=${encodeURIComponent(at)}`
      expect((await s.as().get(`/api/v1/timeline?${span}`)).status).toBe(422)
    },
  )

  it('a job of the last year shows what comes after it', async () => {
    const s = await startService({ works: false, handlers: { work } })
    const trigger = { every: '366d', anchor: '9000-12-31T00:00:00Z' }
    const made = { handler: 'work', trigger, start_at: '9000-12-31T00:00:00Z', first: 'next' }
    const { id } = (await s.as().post('/api/v1/jobs', made)).body
    const { status, body } = await s.as().get(`/api/v1/jobs/${id}/upcoming?limit=50`)
    expect(status).toBe(200)
    expect(body['upcoming']).toHaveLength(50)
  })
})
