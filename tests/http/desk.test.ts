// The desk and the app are one API: whatever is asked of both is answered alike, and leaves the same
// behind. Each has a real engine and a store of its own, at the same virtual moment.

import { describe, expect, it, onTestFinished } from 'vitest'
import type { App, Routes } from '../../src/service/http/app/parts.ts'
import { routes } from '../../src/service/http/app/routes.ts'
import type { Principal } from '../../src/service/auth/principal.ts'
import { Desk } from '../../src/service/http/desk/desk.ts'
import { families, familyOf, jobFamilies } from '../../src/service/http/desk/families.ts'
import { CountedIds } from '../../src/testing/ids.ts'
import { flatJob, startService, type Service } from './service.ts'

const principal: Principal = { sub: 'local:me', tenant: '*', role: 'admin', by: 'token' }

interface Question {
  readonly method: string
  readonly url: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a connection has and a process does not. */
const ofConnections = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

function headersOf(pairs: Iterable<readonly [string, unknown]>): Record<string, string> {
  const kept = [...pairs].filter(([name]) => !ofConnections.includes(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

function textOf(body: unknown): string | null {
  if (body === undefined) return null
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function wireHeaders({ body, headers = {} }: Question): Record<string, string> {
  return { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }
}

async function askApp({ app, ...service }: Service, asked: Question, token: string): Promise<Told> {
  const text = textOf(asked.body)
  const answer = await app.inject({
    method: asked.method as 'GET',
    url: asked.url,
    headers: { ...wireHeaders(asked), authorization: `Bearer ${token}` },
    ...(text === null ? {} : { payload: text }),
  })
  await service.clock.settle()
  const { statusCode: status, payload: body } = answer
  return { status, headers: headersOf(Object.entries(answer.headers)), body }
}

async function askDesk(desk: Desk, service: Service, asked: Question): Promise<Told> {
  const { method, url } = asked
  const body = textOf(asked.body)
  const answer = await desk.ask({ method, url, headers: wireHeaders(asked), body, signal: null })
  await service.clock.settle()
  expect(answer.body).toBeTypeOf('string')
  return {
    status: answer.status,
    headers: headersOf(answer.headers),
    body: answer.body as string,
  }
}

interface Twins {
  /** The status of both, which must agree in everything else too. */
  readonly ask: (asked: Question) => Promise<Told>
  readonly desk: Desk
  readonly services: readonly [Service, Service]
}

async function startTwins(): Promise<Twins> {
  const start = () => startService({ ids: new CountedIds(), handlers: { greet: () => null } })
  const services = [await start(), await start()] as const
  const [served, own] = services
  const desk = new Desk(own.parts, principal)
  onTestFinished(() => desk.close())
  return {
    desk,
    services,
    ask: async asked => {
      const token = await served.token('admin', '*', principal.sub)
      const expected = await askApp(served, asked, token)
      const told = await askDesk(desk, own, asked)
      expect({ asked, ...told }).toEqual({ asked, ...expected })
      return told
    },
  }
}

const idOf = ({ body }: Told): string => (JSON.parse(body) as { id: string }).id
const get = (url: string): Question => ({ method: 'GET', url })
const post = (url: string, body: unknown = {}): Question => ({ method: 'POST', url, body })

describe('a desk and an app', () => {
  it('make, read, edit, control and remove a job alike', async () => {
    const { ask } = await startTwins()
    const made = await ask(post('/api/v1/jobs', flatJob))
    expect(made.status).toBe(201)
    const job = `/api/v1/jobs/${idOf(made)}`
    const asked: readonly (readonly [number, Question])[] = [
      [200, get('/api/v1/jobs')],
      [200, get('/api/v1/jobs/')],
      [200, get('/api/v1/jobs?limit=1&status=scheduled,paused&sort=name&search=example')],
      [200, get(job)],
      [200, get(`${job}/`)],
      [200, { method: 'PATCH', url: job, body: { interval_minutes: 45 } }],
      [200, post(`${job}/pause`, { note: 'for a while' })],
      [400, post(`${job}/pause`)],
      [200, get(`${job}/why`)],
      [200, get(`${job}/heartbeat?slots=5`)],
      [200, get(`${job}/stats`)],
      [200, get(`${job}/upcoming?limit=3`)],
      [200, get(`${job}/executions`)],
      [200, get(`/api/v1/heartbeats?jobs=${idOf(made)},nobody&slots=3`)],
      [200, post(`${job}/resume`)],
      [202, post(`${job}/run`)],
      [200, get('/api/v1/runs')],
      [200, get(`/api/v1/runs/${idOf(made)}.1`)],
      [200, get('/api/v1/search?q=example')],
      [200, get('/api/v1/tenants')],
      [200, get('/api/v1/attention')],
      [200, get('/api/v1/upcoming')],
      [200, get('/api/v1/audit')],
      [204, { method: 'DELETE', url: job }],
      [404, get(job)],
      [404, { method: 'DELETE', url: job }],
    ]
    for (const [status, one] of asked) {
      expect([one.method, one.url, (await ask(one)).status]).toEqual([one.method, one.url, status])
    }
  })

  it('refuse what is not valid in the same words', async () => {
    const { ask } = await startTwins()
    const nested = `${'['.repeat(40)}${']'.repeat(40)}`
    const asked: readonly (readonly [number, Question])[] = [
      [400, get('/api/v1/jobs?limit=0')],
      [400, get('/api/v1/jobs?limit=many&offset=-1')],
      [400, get('/api/v1/jobs?limit=1&limit=2')],
      [400, get('/api/v1/jobs?status=asleep')],
      [422, get('/api/v1/heartbeats')],
      [404, get('/api/v1/jobs/nobody')],
      [404, get(`/api/v1/jobs/${'x'.repeat(501)}`)],
      [404, get('/api/v1/jobs/%E0%A4%A')],
      [404, get('/api/v1/jobs/a/b/c')],
      [404, get('/api/v1/nothing')],
      [404, get('/api/v2/jobs')],
      [404, { method: 'PUT', url: '/api/v1/search' }],
      [400, post('/api/v1/jobs', {})],
      [400, post('/api/v1/jobs', { ...flatJob, interval_minutes: 'often', colour: 'red' })],
      [400, post('/api/v1/jobs', '{"url":')],
      [400, post('/api/v1/jobs', '{"__proto__": {"a": 1}}')],
      [400, post('/api/v1/jobs', '{"constructor": {"prototype": {}}}')],
      [400, post('/api/v1/jobs', nested)],
      [413, post('/api/v1/jobs', JSON.stringify({ name: 'x'.repeat(300_000) }))],
      [415, { ...post('/api/v1/jobs', 'a=b'), headers: { 'content-type': 'text/plain' } }],
      [415, { ...post('/api/v1/jobs', '{}'), headers: { 'content-encoding': 'gzip' } }],
      [404, post('/api/v1/jobs/nobody/pause')],
      [404, get('/api/v1/runs/nobody.1')],
      [422, post('/api/v1/bulk', { action: 'dance', ids: ['a'] })],
      [422, post('/api/v1/sources', { name: 'no url' })],
      [422, post('/api/v1/sources', [])],
    ]
    for (const [status, one] of asked) {
      expect([one.method, one.url, (await ask(one)).status]).toEqual([one.method, one.url, status])
    }
  })

  it('do what is asked for twice with one key once, and keep revisions apart', async () => {
    const { ask } = await startTwins()
    const keyed = { ...post('/api/v1/jobs', flatJob), headers: { 'idempotency-key': 'k1' } }
    const first = await ask(keyed)
    const again = await ask(keyed)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect((await ask({ ...keyed, body: { ...flatJob, url: 'https://b.example' } })).status).toBe(
      422,
    )
    expect((await ask({ ...keyed, headers: { 'idempotency-key': 'two words' } })).status).toBe(400)
    const url = `/api/v1/jobs/${idOf(first)}`
    const edit = { method: 'PATCH', url, body: { interval_minutes: 40 } }
    expect((await ask({ ...edit, headers: { 'if-match': '"7"' } })).status).toBe(412)
    expect((await ask({ ...edit, headers: { 'if-match': first.headers['etag']! } })).status).toBe(
      200,
    )
  })

  it('leave the same in their stores', async () => {
    const { ask, services } = await startTwins()
    const job = `/api/v1/jobs/${idOf(await ask(post('/api/v1/jobs', flatJob)))}`
    await ask(post(`${job}/pause`))
    await ask(post(`${job}/resume`))
    await ask(post(`${job}/run`, { payload: { a: 1 } }))
    const [served, own] = await Promise.all(services.map(everything))
    expect(own!.length).toBeGreaterThan(3)
    expect(own).toEqual(served)
  })
})

async function everything({ engine }: Service): Promise<unknown[]> {
  const entries: unknown[] = []
  let cursor: string | null = null
  do {
    const page = await engine.store.maintenance.dump({ limit: 250, cursor })
    entries.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return entries
}

describe('a desk', () => {
  it('has the routes of the app, family by family', async () => {
    const { services } = await startTwins()
    const loads = [...new Set([...Object.values(families), ...Object.values(jobFamilies)])]
    const own: string[] = []
    for (const load of loads) {
      const found = gathered([await load()], services[0])
      for (const route of found) {
        const [method, url] = route.split(' ')
        expect([route, familyOf(method!, url!)]).toEqual([route, load])
      }
      own.push(...found)
    }
    const words = [...Object.keys(families), 'jobs'].join('|')
    const isOwn = (route: string) => new RegExp(`^\\w+ /api/v1/(?:${words})(?:/|$)`).test(route)
    expect(own.toSorted()).toEqual(gathered(routes, services[0]).filter(isOwn).toSorted())
  })

  it('gives a stream to those who listen, and ends it when it closes', async () => {
    const { desk } = await startTwins()
    const asked = { method: 'GET', url: '/api/v1/events', headers: {}, body: null, signal: null }
    const { status, headers, body } = await desk.ask(asked)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    if (typeof body === 'string') throw new Error('not a stream')
    let text = ''
    body.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const over = new Promise(resolve => body.on('end', resolve))
    await desk.close()
    await over
    expect(text).toContain('event: hello')
    expect(text).toContain('event: end')
  })

  it('rejects for a caller who has gone', async () => {
    const { desk } = await startTwins()
    const gone = new AbortController()
    const asked = { method: 'GET', url: '/api/v1/jobs', headers: {}, body: null }
    const asking = desk.ask({ ...asked, signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    await expect(desk.ask({ ...asked, signal: gone.signal })).rejects.toThrow('gone')
  })
})

function gathered(given: readonly Routes[], { parts }: Service): string[] {
  const found: string[] = []
  const app = {
    route: ({ method, url }: { method: string; url: string }) => found.push(`${method} ${url}`),
    addHook: () => {},
    createRateLimit: () => async () => ({ isAllowed: true }),
  }
  for (const add of given) add(app as unknown as App, parts)
  return found
}
