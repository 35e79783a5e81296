// A real service for a test: the app over an engine on one store, under virtual time, and callers
// that hold tokens.

import { onTestFinished } from 'vitest'
import type { Resolve } from '../../src/actions/guard/connect.ts'
import type { OutboundLimits } from '../../src/actions/guard/outbound.ts'
import { httpAction } from '../../src/actions/http/action.ts'
import { actionHandlers, type PageSink } from '../../src/actions/index.ts'
import { openTables } from '../../src/compose.ts'
import { secretsFrom } from '../../src/actions/secrets.ts'
import type { Json } from '../../src/core/json.ts'
import type { Instant, Millis } from '../../src/core/time.ts'
import { DAY } from '../../src/core/time.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { SystemIds, type Ids } from '../../src/runtime/ids.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'
import { createApp } from '../../src/service/http/app/app.ts'
import type { App, AppParts, HttpLogger } from '../../src/service/http/app/parts.ts'
import { httpSettings, type HttpSettings } from '../../src/service/http/app/settings.ts'
import { Authenticator, LIFETIME_MAX_MS, type Auth } from '../../src/service/auth/authenticator.ts'
import type { Role } from '../../src/service/auth/principal.ts'
import { mint, type TokenRules } from '../../src/service/auth/tokens.ts'
import { Metrics } from '../../src/service/metrics/metrics.ts'
import { openSources } from '../../src/sources/open.ts'
import type { SourceTables } from '../../src/sources/tables.ts'
import type { Store } from '../../src/store/port.ts'
import { workflowAction } from '../../src/workflows/action.ts'
import { Workflows } from '../../src/workflows/workflows.ts'
import { openSqlite } from '../support/sqlite.ts'
import type { OpenStore } from '../support/stores.ts'
import { moment, span, tracked, WorldClock } from '../support/world-parts.ts'

export const SECRET = 'Qm9vLXRoaXMtaXMtbm90LWEtc2FtcGxlLXNlY3JldA'
export const START = '2026-01-05T12:00:00Z'

/** A body as tests read it: what they name is typed, the rest is theirs to narrow. */
export interface Wire {
  readonly [field: string]: unknown
  readonly id: string
  readonly status: string
  readonly revision: number
  readonly total: number
  readonly run_id: string
  readonly next_cursor: string | null
  readonly jobs: readonly Wire[]
  readonly executions: readonly Wire[]
  readonly errors: readonly { readonly field: string; value: unknown; readonly rule: string }[]
  readonly detail: string
  readonly type: string
  readonly request_id: string
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly body: Wire
}

type Headers = Readonly<Record<string, string>>

export interface Caller {
  get(url: string, headers?: Headers): Promise<Answered>
  post(url: string, body?: unknown, headers?: Headers): Promise<Answered>
  put(url: string, body?: unknown, headers?: Headers): Promise<Answered>
  patch(url: string, body?: unknown, headers?: Headers): Promise<Answered>
  delete(url: string, headers?: Headers): Promise<Answered>
}

export interface ServiceOptions {
  readonly at?: string | Instant
  readonly open?: OpenStore
  readonly settings?: Partial<EngineSettings>
  readonly http?: Partial<HttpSettings>
  readonly handlers?: Readonly<Record<string, Handler>>
  /** False leaves the node asleep: nothing is claimed. */
  readonly works?: boolean
  readonly wrap?: (store: Store) => Store
  readonly ids?: Ids
  readonly log?: HttpLogger
  readonly allowHosts?: readonly string[]
  readonly allowCommands?: boolean | readonly string[]
  readonly auth?: Partial<TokenRules>
  /** Where crawled pages go; without it crawls only say that they found something. */
  readonly pages?: PageSink
  /** Where the rows of sources go; a database in memory unless told. */
  readonly tables?: SourceTables
  /** Where secrets are looked up. */
  readonly env?: Readonly<Record<string, string>>
  /** How names of hosts are looked up; a public address unless told. */
  readonly resolve?: Resolve
  /** Limits of outbound requests that differ from the defaults. */
  readonly limits?: Partial<OutboundLimits>
}

export class Service {
  readonly app: App
  readonly engine: Engine
  readonly clock: WorldClock
  readonly auth: Authenticator
  readonly rules: TokenRules
  readonly parts: AppParts

  constructor(
    app: App,
    parts: AppParts,
    clock: WorldClock,
    auth: { auth: Authenticator; rules: TokenRules },
  ) {
    this.app = app
    this.parts = parts
    this.engine = parts.engine
    this.clock = clock
    this.auth = auth.auth
    this.rules = auth.rules
  }

  token(role: Role = 'admin', tenant = 'acme', sub = `${role}@${tenant}`): Promise<string> {
    return mint(SECRET, { sub, tenant, role, ttlMs: 30 * DAY }, this.rules)
  }

  /** The Cookie header of a new session, as signing in with a token gives it. */
  async cookie(role: Role = 'admin', tenant = '*'): Promise<string> {
    const credential = { token: await this.token(role, tenant) }
    const started = await this.parts.auth.signIn({ credential, ip: null, also: () => [] })
    return `carillon_session=${started!.secret}`
  }

  /** Whatever role and tenant; the token is made anew for every call, at the present moment. */
  as(role: Role = 'admin', tenant = 'acme'): Caller {
    return this.caller(async () => ({ authorization: `Bearer ${await this.token(role, tenant)}` }))
  }

  caller(sign: () => Promise<Headers> = async () => ({})): Caller {
    const send = async (method: string, url: string, body: unknown, headers: Headers = {}) => {
      const signed = { ...(await sign()), ...headers }
      const answer = await this.app.inject({
        method: method as 'GET',
        url,
        headers: body === undefined ? signed : { 'content-type': 'application/json', ...signed },
        ...(body === undefined
          ? {}
          : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      await this.clock.settle()
      const isJson = /json/.test(String(answer.headers['content-type'] ?? ''))
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.payload,
        body: (isJson ? JSON.parse(answer.payload) : {}) as Wire,
      }
    }
    return {
      get: (url, headers) => send('GET', url, undefined, headers),
      post: (url, body, headers) => send('POST', url, body, headers),
      put: (url, body, headers) => send('PUT', url, body, headers),
      patch: (url, body, headers) => send('PATCH', url, body, headers),
      delete: (url, headers) => send('DELETE', url, undefined, headers),
    }
  }

  get now(): Instant {
    return this.clock.now()
  }

  async advance(by: string | Millis): Promise<void> {
    await this.clock.advance(span(by))
    await this.clock.settle()
  }

  /** Waits for something that needs virtual time to pass, a little at a time. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const over = work.finally(() => (isOver = true))
    over.catch(() => {})
    for (let step = 0; !isOver && step < 10_000; step++) {
      await this.clock.settle()
      if (!isOver) await this.clock.advance(100)
    }
    return over
  }
}

/** Virtual hours pass in few steps: nothing looks around more often than a test needs. */
const quiet = {
  nodeId: 'node-1',
  checkIntervalMs: 3_600_000,
  metricsMs: 3_600_000,
  pruneMs: 3_600_000,
  idleReapMs: 30_000,
}

/** A crawl that finds something, or does what the test says. */
const crawl: Handler = context => {
  context.measure('items_crawled', 25)
  context.measure('items_indexed', 23)
  return null
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const clock = new WorldClock(moment(options.at ?? START))
  const opened = await (options.open ?? openSqlite)(() => clock.now())
  const store = tracked(options.wrap?.(opened.store) ?? opened.store, clock)
  const engine = createEngine({
    store,
    clock,
    ids: options.ids ?? new SystemIds(),
    settings: { ...quiet, ...options.settings },
  })
  const { env = {} } = options
  const secrets = secretsFrom(env)
  const actions = actionHandlers({
    clock,
    env,
    allowHosts: options.allowHosts ?? [],
    allowCommands: options.allowCommands ?? false,
    pages: options.pages ?? null,
    resolve: options.resolve ?? (async () => [{ address: '93.184.216.34', family: 4 }]),
    limits: options.limits ?? {},
  })
  const { outbound } = actions
  const call = httpAction({ outbound, clock, userAgent: 'Carillon', secrets })
  const workflows = new Workflows({ store, clock, http: call })
  actions.registry.add(workflowAction({ workflows, handlers: engine.handlers, http: call, clock }))
  const sources = openSources(engine, {
    outbound,
    registry: actions.registry,
    tables: options.tables ?? (await openTables('memory:', ':memory:')),
    env,
  })
  const crawling = options.pages ? {} : { 'action:crawl': crawl }
  const handlers = { ...crawling, ...Object.fromEntries(actions.handlers) }
  for (const [name, handler] of Object.entries({ ...handlers, ...options.handlers })) {
    engine.handlers.set(name, handler)
  }
  const { auth, rules } = authOf(engine, clock, options)
  const metrics = new Metrics(engine)
  const parts: AppParts = {
    engine,
    actions: actions.registry,
    workflows,
    sources,
    pages: options.pages ?? null,
    // Signatures are checked on another thread: no time passes meanwhile.
    auth: tracked<Auth>(auth, clock),
    settings: httpSettings({ ratePerMinute: null, checksAnswers: true, ...options.http }),
    version: '0.0.0-test',
    metricsText: () => metrics.text(),
    log: options.log ?? null,
  }
  const app = await createApp(parts)
  const service = new Service(app, parts, clock, { auth, rules })
  if (options.works !== false) await service.until(engine.node.start())
  onTestFinished(async () => {
    engine.node.crash()
    await app.close()
    await actions.close()
    await clock.settle()
    await opened.close()
  })
  return service
}

function authOf(engine: Engine, clock: WorldClock, options: ServiceOptions) {
  const rules: TokenRules = {
    now: () => clock.now(),
    issuer: null,
    audience: null,
    lifetimeMaxMs: LIFETIME_MAX_MS,
    ...options.auth,
  }
  const key = { kind: 'secret', secret: SECRET } as const
  return { rules, auth: new Authenticator({ key, records: engine, rules }) }
}

export const flatJob = {
  source_id: 'news-site',
  source_name: 'example.com',
  url: 'https://example.com',
  interval_minutes: 30,
  interval_type: 'minutes',
  schedule_enabled: true,
} satisfies Json
