// A store of this machine and a service are one API: what commands call in process answers what HTTP
// answers, and leaves the same behind. Each has a real engine and a store of its own, at the same time.

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { localApi } from '../../src/cli/target/local.ts'
import { CarillonError } from '../../src/client/error.ts'
import { createClient } from '../../src/client/index.ts'
import type { JobBody } from '../../src/client/types.ts'
import { LocalRefusal, LocalService, localPrincipal } from '../../src/service/local.ts'
import type { AnyUseCase } from '../../src/service/use-cases/call/use-case.ts'
import { startBulk } from '../../src/service/use-cases/bulk/bulk.ts'
import { pauseJob, resumeJob, runJob } from '../../src/service/use-cases/jobs/control.ts'
import { explainJob, getJobHeartbeat } from '../../src/service/use-cases/jobs/insight.ts'
import { getJob, listJobs } from '../../src/service/use-cases/jobs/read.ts'
import { createJob, editJob, removeJob } from '../../src/service/use-cases/jobs/write.ts'
import { listHeartbeats } from '../../src/service/use-cases/overview/overview.ts'
import { reconcile } from '../../src/service/use-cases/reconcile/reconcile.ts'
import { getRun, listRuns } from '../../src/service/use-cases/runs/read.ts'
import { search } from '../../src/service/use-cases/search/search.ts'
import { createSource } from '../../src/service/use-cases/sources/sources.ts'
import { CountedIds } from '../../src/testing/ids.ts'
import { flatJob, startService, type Service } from './service.ts'

interface Question {
  readonly does: AnyUseCase
  readonly route: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly ifMatch?: string
}

interface Answered {
  readonly status: number
  readonly body: unknown
}

async function askApp({ app, clock }: Service, asked: Question, token: string): Promise<Answered> {
  const [method, pattern] = asked.route.split(' ') as ['GET', string]
  const path = pattern.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(asked.params?.[name] ?? ''),
  )
  const query = new URLSearchParams(
    Object.entries(asked.query ?? {}).map(
      ([name, value]) => [name, String(value)] as [string, string],
    ),
  )
  const answer = await app.inject({
    method,
    url: `${path}?${query.toString()}`,
    headers: {
      authorization: `Bearer ${token}`,
      ...(asked.ifMatch === undefined ? {} : { 'if-match': asked.ifMatch }),
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(asked.body === undefined ? {} : { payload: JSON.stringify(asked.body) }),
  })
  await clock.settle()
  const text = answer.payload
  return { status: answer.statusCode, body: text === '' ? null : JSON.parse(text) }
}

/** The status of what was not refused is said by the use case. */
async function askLocal(service: Service, local: LocalService, asked: Question): Promise<Answered> {
  const { does, ...input } = asked
  const answer = await local.perform(does, input).then(
    body => ({ status: null, body: JSON.parse(JSON.stringify(body ?? null)) as unknown }),
    (error: unknown) => {
      if (!(error instanceof LocalRefusal)) throw error
      const { problem, body } = error
      return { status: problem.status, body: JSON.parse(JSON.stringify(body)) as unknown }
    },
  )
  await service.clock.settle()
  return { ...answer, status: answer.status ?? does.status ?? 200 }
}

/** Each call has an id of its own. */
function withoutId({ status, body }: Answered): Answered {
  if (typeof body !== 'object' || body === null || !('request_id' in body)) return { status, body }
  return { status, body: { ...body, request_id: 'any' } }
}

function localOf({ parts }: Service): LocalService {
  return new LocalService(parts, parts.settings, async () => {})
}

async function startTwins() {
  const start = () => startService({ ids: new CountedIds(), handlers: { greet: () => null } })
  const [served, own] = [await start(), await start()]
  const local = localOf(own)
  onTestFinished(() => local.close())
  const { sub } = localPrincipal()
  return {
    served,
    own,
    ask: async (asked: Question): Promise<Answered> => {
      const token = await served.token('admin', '*', sub)
      const expected = withoutId(await askApp(served, asked, token))
      const answered = withoutId(await askLocal(own, local, asked))
      expect({ route: asked.route, ...answered }).toEqual({ route: asked.route, ...expected })
      return answered
    },
  }
}

const jobs = '/api/v1/jobs'
const create = (body: unknown): Question => ({ does: createJob, route: `POST ${jobs}`, body })

describe('a local service and an app', () => {
  it('make, read, edit, control and remove a job alike', async () => {
    const { ask } = await startTwins()
    const made = await ask(create(flatJob))
    expect(made.status).toBe(201)
    const { id } = made.body as { id: string }
    const params = { id }
    const one = `${jobs}/:id`
    const asked: readonly (readonly [number, Question])[] = [
      [200, { does: listJobs, route: `GET ${jobs}` }],
      [200, { does: listJobs, route: `GET ${jobs}`, query: { limit: 1, sort: 'name' } }],
      [200, { does: getJob, route: `GET ${one}`, params }],
      [200, { does: getJob, route: `GET ${one}`, params, query: { form: 'both' } }],
      [200, { does: editJob, route: `PATCH ${one}`, params, body: { interval_minutes: 45 } }],
      [412, { does: editJob, route: `PATCH ${one}`, params, body: { name: 'a' }, ifMatch: '"9"' }],
      [200, { does: pauseJob, route: `POST ${one}/pause`, params, body: { note: 'a while' } }],
      [400, { does: pauseJob, route: `POST ${one}/pause`, params, body: {} }],
      [200, { does: explainJob, route: `GET ${one}/why`, params }],
      [200, { does: getJobHeartbeat, route: `GET ${one}/heartbeat`, params, query: { slots: 5 } }],
      [200, { does: listHeartbeats, route: 'GET /api/v1/heartbeats', query: { jobs: id } }],
      [200, { does: resumeJob, route: `POST ${one}/resume`, params, body: {} }],
      [202, { does: runJob, route: `POST ${one}/run`, params, body: {} }],
      [200, { does: listRuns, route: 'GET /api/v1/runs' }],
      [200, { does: getRun, route: 'GET /api/v1/runs/:id', params: { id: `${id}.1` } }],
      [200, { does: search, route: 'GET /api/v1/search', query: { q: 'example' } }],
      [204, { does: removeJob, route: `DELETE ${one}`, params }],
      [404, { does: getJob, route: `GET ${one}`, params }],
      [404, { does: removeJob, route: `DELETE ${one}`, params }],
    ]
    for (const [status, question] of asked) {
      const answered = await ask(question)
      expect([question.route, answered.status]).toEqual([question.route, status])
    }
  })

  it('refuse what is not valid in the same words', async () => {
    const { ask } = await startTwins()
    const nested = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) as unknown
    const list = `GET ${jobs}`
    const asked: readonly (readonly [number, Question])[] = [
      [400, { does: listJobs, route: list, query: { limit: 0 } }],
      [400, { does: listJobs, route: list, query: { limit: 'many', offset: -1 } }],
      [400, { does: listJobs, route: list, query: { status: 'asleep' } }],
      [422, { does: listHeartbeats, route: 'GET /api/v1/heartbeats' }],
      [404, { does: getRun, route: 'GET /api/v1/runs/:id', params: { id: 'nobody.1' } }],
      [400, create({})],
      [400, create({ ...flatJob, interval_minutes: 'often', colour: 'red' })],
      [400, create(nested)],
      [400, create({ name: 'a', payload: nested })],
      [413, create({ name: 'x'.repeat(300_000) })],
      [422, { does: startBulk, route: 'POST /api/v1/bulk', body: { action: 'dance', ids: ['a'] } }],
      [422, { does: createSource, route: 'POST /api/v1/sources', body: { name: 'no url' } }],
      [422, { does: createSource, route: 'POST /api/v1/sources', body: [] }],
      [
        422,
        {
          does: reconcile,
          route: 'POST /api/v1/reconcile',
          body: { app: 'a', jobs: [{ definition: 'd', job: {} }] },
        },
      ],
    ]
    for (const [status, question] of asked) {
      const answered = await ask(question)
      expect([question.route, answered.status]).toEqual([question.route, status])
    }
  })

  it('leave the same in their stores', async () => {
    const { ask, served, own } = await startTwins()
    const { id } = (await ask(create(flatJob))).body as { id: string }
    const params = { id }
    await ask({ does: pauseJob, route: `POST ${jobs}/:id/pause`, params, body: {} })
    await ask({ does: resumeJob, route: `POST ${jobs}/:id/resume`, params, body: {} })
    await ask({ does: runJob, route: `POST ${jobs}/:id/run`, params, body: { payload: { a: 1 } } })
    const [there, here] = [await everything(served), await everything(own)]
    expect(here.length).toBeGreaterThan(3)
    expect(here).toEqual(there)
  })
})

/** But for what names a call. */
async function everything({ engine }: Service): Promise<unknown[]> {
  const entries: unknown[] = []
  let cursor: string | null = null
  do {
    const page = await engine.store.maintenance.dump({ limit: 250, cursor })
    entries.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return JSON.parse(
    JSON.stringify(entries, (name, value: unknown) =>
      name === 'request_id' || name === 'key' ? 'any' : value,
    ),
  ) as unknown[]
}

describe('what commands ask of a local store', () => {
  it('has every method they use of the client', async () => {
    const service = await startService()
    const api = localApi(localOf(service))
    const client = createClient({ url: 'http://nowhere.example' })
    for (const group of ['jobs', 'runs'] as const) {
      for (const name of Object.keys(api[group])) {
        expect([name, name in client[group]]).toEqual([name, true])
      }
    }
  })

  it('makes, follows and cancels a run', async () => {
    const greet = vi.fn<() => null>(() => null)
    const service = await startService({ handlers: { greet } })
    const api = localApi(localOf(service))
    const body = { name: 'a', handler: 'greet', trigger: { manual: true } } as unknown as JobBody
    const job = await api.jobs.create(body)
    const { run_id } = await api.jobs.run(job.id)
    await service.advance('1m')
    expect((await api.runs.get(run_id)).status).toBe('completed')
    expect((await api.jobs.list({ search: 'a' })).jobs.map(({ id }) => id)).toEqual([job.id])
    const found = []
    for await (const one of api.jobs.each()) found.push(one.id)
    expect(found).toEqual([job.id])
    expect(greet).toHaveBeenCalledOnce()
  })

  it('tells what happens until the target is closed', async () => {
    const service = await startService()
    const local = localOf(service)
    const events = localApi(local).events()
    const found: string[] = []
    const read = async () => {
      const { value } = await service.until(events.next())
      if (value) found.push(value.type)
      return value
    }
    while ((await read())?.type !== 'hello') expect(found.length).toBeLessThan(5)
    await local.close()
    expect(await read()).toMatchObject({ type: 'end', data: { reason: 'shutdown' } })
    expect((await service.until(events.next())).done).toBe(true)
  })

  it('refuses as a service does', async () => {
    const api = localApi(localOf(await startService()))
    const refusal = await api.jobs.get('nobody').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(CarillonError)
    expect(refusal).toMatchObject({ status: 404, type: 'not-found' })
    const given = await api
      .events({ after: 'nonsense' })
      .next()
      .catch((error: unknown) => error)
    expect(given).toMatchObject({ status: 422, problems: [{ field: 'after' }] })
  })

  it('rejects for a caller who has gone', async () => {
    const api = localApi(localOf(await startService()))
    const gone = new AbortController()
    const asking = api.jobs.list({}, { signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    await expect(api.jobs.list({}, { signal: gone.signal })).rejects.toThrow('gone')
  })
})
