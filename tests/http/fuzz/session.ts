// A service under fire: it sends what the generator makes, moves virtual time, and keeps the causes
// of failures for the report.

import type { Readable } from 'node:stream'
import type { Entry } from '../../../src/core/stored/entry.ts'
import { DAY, SECOND } from '../../../src/core/time.ts'
import type { Handler } from '../../../src/engine/handlers.ts'
import { problemTypes } from '../../../src/service/use-cases/call/problem.ts'
import type { Store } from '../../../src/store/port.ts'
import type { OpenStore } from '../../support/stores.ts'
import { startService, type Service } from '../service.ts'
import { readDocument } from './document.ts'
import { Requests, type Call } from './requests.ts'
import { Holdings, type Caller } from './tenants.ts'
import { Watch } from './watch.ts'

/** Requests under way at the same moment. */
const AT_ONCE = 8
const FAILURES_MAX = 10

export const work: Handler = context => {
  context.log.info('did it', { payload: context.payload })
  context.measure('items_crawled', 1)
  return context.payload
}
const fails: Handler = ({ payload }) => {
  throw new Error(`could not: ${JSON.stringify(payload)}`)
}
const slow: Handler = context =>
  new Promise((_resolve, reject) => {
    context.log.info('waits', { payload: context.payload })
    context.signal.addEventListener('abort', () => reject(context.signal.reason as Error))
  })

export class Fuzz {
  readonly service: Service
  readonly store: Store
  readonly watch: Watch
  readonly held: Holdings
  readonly #requests: Requests
  readonly #seed: number
  #n = 0

  constructor(of: {
    service: Service
    store: Store
    seed: number
    document: string
    /** Of failures, by request id. */
    causes: ReadonlyMap<unknown, unknown>
  }) {
    this.service = of.service
    this.store = of.store
    this.held = new Holdings()
    const document = readDocument(of.document)
    const slugs = Object.keys(problemTypes).map(slug => `/problems/${slug}`)
    this.watch = new Watch(of.seed, document, { held: this.held, slugs, causes: of.causes })
    this.#requests = new Requests(document, this.held)
    this.#seed = of.seed
  }

  /** So many requests; virtual time passes in between unless it stands. */
  async go(
    count: number,
    callers: readonly (readonly [Caller, number])[],
    { stands = false } = {},
  ): Promise<void> {
    const end = this.#n + count
    while (this.#n < end && this.watch.failures.length < FAILURES_MAX) {
      const calls: Call[] = []
      while (calls.length < AT_ONCE && this.#n < end) {
        const call = this.#requests.next(this.#seed, this.#n++, callers)
        calls.push(stands ? withoutWaiting(call) : call)
      }
      await this.#all(calls, stands)
      if (!stands && this.#n % 400 === 0) await this.service.advance(20 * SECOND)
    }
  }

  /** Time goes on only for requests that wait for it. */
  async #all(calls: readonly Call[], stands: boolean): Promise<void> {
    const { clock } = this.service
    let left = calls.length
    const all = Promise.all(calls.map(call => this.#one(call).finally(() => left--)))
    all.catch(() => {})
    for (let spin = 1; left > 0; spin++) {
      await clock.settle()
      // Most that wait do so for a second or two, a worker for up to a minute.
      const step = spin < 2_000 ? SECOND : 20 * SECOND
      if (!stands && spin % 500 === 0) await clock.advance(step)
      if (spin > 500_000) throw new Error(`no answer to one of ${JSON.stringify(calls)}`)
    }
    await all
  }

  async #one(call: Call): Promise<void> {
    const { method, url, headers, body } = call
    const answer = await this.service.app.inject({
      method: method as 'GET',
      url,
      headers,
      ...(body === null ? {} : { payload: body }),
    })
    this.watch.look(call, {
      status: answer.statusCode,
      headers: answer.headers,
      text: answer.payload,
    })
  }

  /** Everything kept but the audit, in which refusals are written down. */
  async kept(): Promise<Entry[]> {
    const found: Entry[] = []
    let cursor: string | null = null
    do {
      const page = await this.store.maintenance.dump({ limit: 250, cursor })
      found.push(...page.items)
      cursor = page.cursor
    } while (cursor !== null)
    return found.filter(one => one.type !== 'record' || !one.record.kind.startsWith('audit:'))
  }
}

/** While time stands, nobody would wake a reader that follows a log, or a worker without work. */
function withoutWaiting(call: Call): Call {
  const body = call.body?.replace(/"wait_seconds":\s*\d+/g, '"wait_seconds":0') ?? null
  return { ...call, body, url: call.url.replace('follow=', 'followed=') }
}

export async function startFuzz(seed: number, open: OpenStore): Promise<Fuzz> {
  let store: Store | null = null
  const causes = new Map<unknown, unknown>()
  const service = await startService({
    open,
    wrap: opened => (store = opened),
    handlers: { work, fails, slow },
    http: { authFailuresPerMinute: 1_000_000, readyAfterMs: DAY },
    resolve: async () => [],
    log: {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: fields => {
        const { request_id: id, err } = fields as { request_id?: unknown; err?: unknown }
        causes.set(id, err)
      },
    },
  })
  const { text } = await service.caller().get('/openapi.json')
  return new Fuzz({ service, store: store!, seed, document: text, causes })
}

/** Admins most of all, for they get furthest. */
export function weighed(callers: readonly Caller[]): (readonly [Caller, number])[] {
  const weights = { admin: 8, operator: 2, viewer: 1 }
  return callers.map(one => {
    const isOne = one.role !== null && one.tenant !== '*'
    return [one, isOne ? weights[one.role] : 1]
  })
}

export interface Heard {
  readonly tenant: string
  text: string
}

/** What each tenant is told while everybody writes. */
export async function listen({ app }: Service, callers: readonly Caller[]): Promise<Heard[]> {
  const viewers = callers.filter(({ role }) => role === 'viewer')
  const all: Heard[] = []
  for (const { tenant, authorization } of viewers) {
    const heard: Heard = { tenant: tenant!, text: '' }
    const url = '/api/v1/events?topics=run,job,counts,progress,log'
    const headers = { authorization: authorization! }
    const answer = await app.inject({ url, headers, payloadAsStream: true })
    const stream: Readable = answer.stream()
    stream.on('data', (chunk: Buffer) => (heard.text += chunk.toString()))
    stream.on('error', () => {})
    all.push(heard)
  }
  return all
}
