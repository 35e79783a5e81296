// The published client against a real service: what it sends, what it makes of answers, and that it
// knows every route.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CarillonError,
  createClient,
  TimeoutError,
  UnreachableError,
  type Client,
  type Fetch,
} from '../../src/client/index.ts'
import { toFile } from '../../src/move/to-file.ts'
import { resolveConfig } from '../../src/service/config/config.ts'
import { startService, type Service } from '../../src/service/start.ts'
import { mintFor } from '../../src/service/auth/mint.ts'

let folder: string
let service: Service
let client: Client
let token: string
const asked: { method: string; path: string; headers: Record<string, string> }[] = []

/** The real thing, listened to. */
const listened: Fetch = async (url, init) => {
  const { pathname } = new URL(url)
  asked.push({
    method: init.method!,
    path: pathname,
    headers: init.headers as Record<string, string>,
  })
  return fetch(url, init)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-client-'))
  const flags = { data: folder, port: '0', logLevel: 'silent' }
  const config = resolveConfig({ flags, env: {}, file: null })
  service = await startService(config, {
    greet: context => {
      context.log.info('hello')
      return { greeted: context.payload }
    },
    slow: context =>
      new Promise((_, reject) => {
        context.log.info('begun')
        context.signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  })
  token = await mintFor(config, { role: 'admin', tenant: 'acme', sub: 'tests', ttl: '1h' })
  client = createClient({ url: `${service.address}/`, token, fetch: listened })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function gathered<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const greet = { trigger: { manual: true }, handler: 'greet' } as const

describe('jobs and runs', () => {
  it('a job lives from its making to its end', async () => {
    const job = await client.jobs.create({ name: 'a', ...greet, payload: { n: 1 } })
    expect(await client.jobs.get(job.id)).toEqual(job)
    const edited = await client.jobs.edit(job.id, { priority: 5 }, { ifMatch: `"${job.revision}"` })
    expect(edited.priority).toBe(5)
    const old = client.jobs.edit(job.id, { priority: 1 }, { ifMatch: `"${job.revision}"` })
    await expect(old).rejects.toMatchObject({ status: 412, type: 'precondition-failed' })
    const { run_id } = await client.jobs.run(job.id, { payload: { n: 2 } })
    const run = await client.runs.wait(run_id)
    expect(run).toMatchObject({ status: 'completed', result: { greeted: { n: 2 } } })
    const lines = await gathered(client.runs.lines(run_id, { follow: true }))
    expect(lines.map(({ message }) => message)).toEqual(['hello'])
    expect((await client.jobs.executions(job.id)).total).toBe(1)
    await client.jobs.remove(job.id)
    await expect(client.jobs.get(job.id)).rejects.toBeInstanceOf(CarillonError)
  })

  it('a job of which little was said is as short in a file', async () => {
    const said = { name: 'short', trigger: { every: '1h' }, handler: 'greet' }
    const job = await client.jobs.create(said)
    const { jobs, lost } = toFile([job])
    expect(jobs).toEqual([said])
    expect(lost).toEqual([])
    await client.jobs.remove(job.id)
  })

  it('pages are read as they are needed', async () => {
    for (let i = 0; i < 5; i++) await client.jobs.create({ name: `page-${i}`, ...greet })
    asked.length = 0
    const names: string[] = []
    for await (const { name } of client.jobs.each({ search: 'page-', limit: 2 })) {
      names.push(name)
      if (names.length === 3) break
    }
    expect(names).toEqual(['page-4', 'page-3', 'page-2'])
    expect(asked).toHaveLength(2)
    const all = await gathered(client.jobs.each({ search: 'page-', limit: 2 }))
    expect(all).toHaveLength(5)
  })

  it('many are acted on in the background', async () => {
    const job = await client.jobs.create({
      name: 'many',
      trigger: { every: '1h' },
      handler: 'greet',
    })
    const begun = await client.bulk({ action: 'pause', ids: [job.id, 'nobody'], note: 'why' })
    const ended = await client.bulkEnd(begun.id)
    expect(ended).toMatchObject({ status: 'done', done: 2, failed: 1 })
    expect((await client.jobs.get(job.id)).status).toBe('paused')
  })
})

describe('refusals', () => {
  it('are errors with everything the service said', async () => {
    const error = await client.jobs.create({ name: '', priority: 9 }).then(
      () => null,
      (caught: unknown) => caught,
    )
    expect(error).toBeInstanceOf(CarillonError)
    const { status, type, problems, requestId } = error as CarillonError
    expect({ status, type }).toEqual({ status: 400, type: 'invalid-request' })
    expect(problems.map(({ field }) => field)).toContain('priority')
    expect(requestId).toMatch(/\w/)
  })

  it('a token may be a function, and is asked for every time', async () => {
    let asks = 0
    const other = createClient({
      url: service.address,
      token: async () => (++asks === 1 ? 'not.a.token' : token),
    })
    await expect(other.system()).rejects.toMatchObject({ status: 401, type: 'unauthorized' })
    expect(await other.session()).toMatchObject({ sub: 'tests', tenant: 'acme', role: 'admin' })
  })
})

describe('repeating', () => {
  const failing = (
    times: number,
    how: () => Promise<Response>,
  ): { fetch: Fetch; keys: string[] } => {
    const keys: string[] = []
    let left = times
    return {
      keys,
      fetch: (url, init) => {
        keys.push((init.headers as Record<string, string>)['idempotency-key'] ?? '')
        return left-- > 0 ? how() : fetch(url, init)
      },
    }
  }
  const away = () => Promise.resolve(new Response('{}', { status: 503 }))
  const lost = () => Promise.reject(new TypeError('fetch failed'))

  it.each([
    ['an outage', away],
    ['a lost connection', lost],
  ])('a POST survives %s, under one key, and happens once', async (_, how) => {
    const { fetch: flaky, keys } = failing(2, how)
    const other = createClient({ url: service.address, token, fetch: flaky })
    const job = await other.jobs.create({ name: 'once', ...greet })
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    // The same key again is the same job.
    const again = await client.jobs.create({ name: 'once', ...greet }, { idempotencyKey: keys[0]! })
    expect(again.id).toBe(job.id)
  })

  it('gives up after as many as asked, and at once on what is not safe', async () => {
    const { fetch: down, keys } = failing(Infinity, lost)
    const other = createClient({ url: service.address, token, fetch: down, retries: 1 })
    await expect(other.system()).rejects.toBeInstanceOf(UnreachableError)
    expect(keys).toHaveLength(2)
    await expect(other.jobs.edit('x', {})).rejects.toBeInstanceOf(UnreachableError)
    expect(keys).toHaveLength(3)
  })

  it('a time limit and a signal end a request', async () => {
    const silent: Fetch = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => reject(signal!.reason as Error))
      })
    const other = createClient({ url: service.address, fetch: silent, timeoutMs: 20 })
    await expect(other.system()).rejects.toBeInstanceOf(TimeoutError)
    const stop = new AbortController()
    const asking = other.system({ signal: stop.signal, timeoutMs: null })
    stop.abort()
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('events', () => {
  it('are told as they happen, and gone on with after the stream broke off', async () => {
    const job = await client.jobs.create({ name: 'told', ...greet })
    let streams = 0
    const breaking: Fetch = async (url, init) => {
      const answer = await fetch(url, init)
      if (!url.includes('/events') || ++streams > 1) return answer
      // The first stream ends after its greeting.
      const { value } = await answer.body!.getReader().read()
      return new Response(value as Uint8Array<ArrayBuffer>, answer)
    }
    const other = createClient({ url: service.address, token, fetch: breaking })
    const stop = new AbortController()
    const seen: string[] = []
    for await (const event of other.events({ topics: ['run'], job: job.id, signal: stop.signal })) {
      seen.push(event.type)
      if (streams > 1 && event.type === 'hello') await client.jobs.run(job.id)
      if (event.type === 'run.finished') break
    }
    expect(streams).toBe(2)
    expect(seen.at(-1)).toBe('run.finished')
  })

  it('end with their signal', async () => {
    const stop = new AbortController()
    const read = async () => {
      for await (const { type } of client.events({ signal: stop.signal }))
        if (type === 'hello') stop.abort()
    }
    await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
  })
})

/** Routes that have no method of their own; `request` reaches them. */
const without = [
  /^\/(?:healthz|readyz|metrics|openapi\.json|problems\/\{slug\})$/,
  /^\/api\/v1\/(?:fair|tasks|users|sources|source-limits|demo|alerts|session|tokens|worker)/,
]

it('every route of the service has a method', async () => {
  const schema = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const routes = Object.entries(schema.paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map(method => [method.toUpperCase(), path] as const),
    )
    // PUT means the same as PATCH.
    .filter(
      ([method, path]) =>
        method !== 'PUT' && method !== 'HEAD' && !without.some(one => one.test(path)),
    )
  asked.length = 0
  await callEverything()
  const called = new Set(
    asked.map(
      ({ method, path }) =>
        `${method} ${path.replaceAll('/x', '/{}').replace(/\/1(?=\/|$)/, '/{}')}`,
    ),
  )
  const missing = routes
    .map(
      ([method, path]) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')}`,
    )
    .filter(route => !called.has(route))
  expect(missing).toEqual([])
})

type Call = () => Promise<unknown>

function callsOfJobs({ jobs, executions, runs }: Client): Call[] {
  return [
    () => jobs.list(),
    () => jobs.create({}),
    () => jobs.get('x'),
    () => jobs.edit('x', {}),
    () => jobs.remove('x'),
    () => jobs.pause('x'),
    () => jobs.resume('x'),
    () => jobs.cancel('x'),
    () => jobs.retry('x'),
    () => jobs.run('x'),
    () => jobs.backfill('x', { from: '2026-01-01T00:00:00Z' }),
    () => jobs.unlock('x'),
    () => jobs.fromCron(),
    () => jobs.executions('x'),
    () => jobs.stats('x'),
    () => jobs.heartbeat('x'),
    () => jobs.lateness('x'),
    () => jobs.why('x'),
    () => jobs.upcoming('x'),
    () => executions.get('x'),
    () => executions.log('x'),
    () => runs.list(),
    () => runs.get('x'),
    () => runs.log('x'),
    () => runs.cancel('x'),
    () => runs.retry('x'),
    () => runs.replay('x', {}),
  ]
}

function otherCalls({ schedules, workflows }: Client): Call[] {
  const body = { name: 'x', workflow_id: 1, interval_seconds: 60 }
  return [
    () => schedules.list(),
    () => schedules.get('x'),
    () => schedules.create(body),
    () => schedules.edit('x', {}),
    () => schedules.remove('x'),
    () => schedules.removeMany(['x']),
    () => schedules.pause('x'),
    () => schedules.resume('x'),
    () => schedules.runs('x'),
    () => schedules.run('x', 'x'),
    () => workflows.list(),
    () => workflows.get(1),
    () => workflows.create({ name: 'x', steps: [] }),
    () => workflows.edit(1, {}),
    () => workflows.remove(1),
    () => workflows.run(1),
    () => workflows.runs(1),
    () => workflows.runOf(1, 'x'),
    () => client.attention(),
    () => client.activity(),
    () => client.heartbeats(['x']),
    () => client.upcoming(),
    () => client.timeline(),
    () => client.cronPreview({ cron: '* * * * *' }),
    () => client.system(),
    () => client.metrics(),
    () => client.tenants(),
    () => client.tenantRule('x'),
    () => client.setTenantRule('x', {}),
    () => client.removeTenantRule('x'),
    () => client.search({ q: 'x' }),
    () => client.audit(),
    () => client.bulk({ action: 'pause', ids: ['x'] }),
    () => client.bulkGet('x'),
    () => client.bulkStop('x'),
    () => client.reconcile({ app: 'x', jobs: [] }),
    () => client.version(),
    () => client.problemTypes(),
    async () => void (await client.events({ isOnce: true }).next()),
  ]
}

async function callEverything(): Promise<void> {
  // Most of them are refused: what matters is where they went.
  for (const call of [...callsOfJobs(client), ...otherCalls(client)]) {
    await call().catch((error: unknown) => expect(error).toBeInstanceOf(CarillonError))
  }
}
