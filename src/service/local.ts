// The service without a door: its use cases over a store of this machine, called in this process and
// running no jobs. What the command line does to a store is done by the very code that serves others.

import { userInfo } from 'node:os'
import type { z } from 'zod'
import { systemIds } from '../compose.ts'
import { EVERY_TENANT, type Principal } from './auth/principal.ts'
import { Revocations } from './auth/revocations.ts'
import { Sessions } from './auth/sessions.ts'
import type { ConfigFile } from './config/config-file.ts'
import type { ServeConfig } from './config/config.ts'
import { openDataFolder } from './config/data-folder.ts'
import { httpSettings } from './http/app/settings.ts'
import { latePlaces } from './lazy-stores.ts'
import { openEngine, openWork } from './parts.ts'
import type { Call, Services } from './use-cases/call/call.ts'
import { checkPart } from './use-cases/call/input.ts'
import { type JsonBounds, parseBody } from './use-cases/call/json-body.ts'
import { HttpProblem, problemBody } from './use-cases/call/problem.ts'
import { refusalOf, type Family } from './use-cases/call/refusal.ts'
import { checkedBody, perform, type AnyUseCase } from './use-cases/call/use-case.ts'
import { version } from './version.ts'

/** What a command says to a use case; queries as they stand in an address. */
export interface LocalInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: object | undefined
  readonly body?: unknown
  readonly ifMatch?: string
}

/** A refusal, with what the service over HTTP would answer. */
export class LocalRefusal extends Error {
  readonly problem: HttpProblem
  readonly body: ReturnType<typeof problemBody>

  constructor(problem: HttpProblem, requestId: string) {
    super(problem.message, { cause: problem })
    this.problem = problem
    this.body = problemBody(problem, requestId)
  }
}

const isJustMe = { isGone: () => false, isStillAllowed: async () => true, leaveShare: () => {} }
const hold = () => ({ signal: new AbortController().signal, release: () => {} })

export class LocalService {
  readonly #services: Services
  readonly #bounds: JsonBounds & { readonly bodyBytesMax: number }
  readonly #close: () => Promise<void>
  readonly #ending: (() => unknown)[] = []

  constructor(
    services: Services,
    bounds: JsonBounds & { readonly bodyBytesMax: number },
    close: () => Promise<void>,
  ) {
    this.#services = services
    this.#bounds = bounds
    this.#close = close
  }

  /** Everything is asked by whoever can open the store: they may do everything to it. */
  call(): Call {
    return {
      ...this.#services,
      caller: localPrincipal(),
      ip: '127.0.0.1',
      requestId: this.#services.engine.ids.token(),
      params: {},
      query: {},
      body: undefined,
      ifMatch: null,
      idempotencyKey: undefined,
      target: { method: '', path: '' },
      connection: { ...isJustMe, hold },
    }
  }

  /** The body of the answer; rejects with a `LocalRefusal`. */
  async perform(does: AnyUseCase, input: LocalInput = {}): Promise<unknown> {
    const call = this.call()
    return this.refusing(call, does.family, async () => {
      const answer = await perform(does, await this.#checked(does, input, call))
      return answer.body
    })
  }

  /** Turns what goes wrong in a call into a `LocalRefusal`. */
  async refusing<T>(
    { requestId }: Call,
    family: Family | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw new LocalRefusal(refusalOf(error, family), requestId)
    }
  }

  async #checked(does: AnyUseCase, input: LocalInput, call: Call): Promise<Call> {
    const { params = {}, ifMatch } = input
    const own = { ...call, params, ifMatch: ifMatch ?? null, body: this.#sent(input.body) }
    const body = does.prepare === undefined ? own.body : await does.prepare(own)
    const given = { ...own, body, query: wordsOf(input.query ?? {}) }
    const schema = checkedBody(does, this.#services)
    return {
      ...given,
      params: does.params ? checkPart(does.params, params, 'params') : params,
      ...(schema ? { body: bodyFor(does, schema, body) } : {}),
      query: does.query ? checkPart(does.query, given.query, 'query') : given.query,
    }
  }

  /** As it would arrive: JSON within the bounds of every body. */
  #sent(body: unknown): unknown {
    if (body === undefined) return undefined
    const text = JSON.stringify(body)
    if (Buffer.byteLength(text) > this.#bounds.bodyBytesMax) {
      throw new HttpProblem('body-too-large', 'the body is larger than allowed')
    }
    return parseBody(text, this.#bounds)
  }

  /** Called when it is closed, before the store is. */
  atEnd(end: () => unknown): void {
    this.#ending.push(end)
  }

  async close(): Promise<void> {
    for (const end of this.#ending.splice(0)) await end()
    await this.#close()
  }
}

/** Of a use case that checks its body itself, any object will do. */
function bodyFor({ checksBody }: AnyUseCase, schema: z.ZodType, body: unknown): unknown {
  try {
    return checkPart(schema, body, 'body')
  } catch (error) {
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
    if (checksBody && isObject) return body
    throw error
  }
}

function wordsOf(query: object): Readonly<Record<string, string>> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

export async function openLocal(
  given: ServeConfig,
  handlers: ConfigFile['handlers'] = {},
): Promise<LocalService> {
  // Jobs that run commands can be made here: whether a node takes them is said where it is started.
  const config: ServeConfig = { ...given, worker: false, allowCommands: [], commandUser: null }
  openDataFolder(config.data)
  const engine = await openEngine(config, systemIds(), { migrates: false })
  try {
    const work = openWork(engine, config, { ...latePlaces(config), handlers, log: null })
    const settings = httpSettings({ bodyBytesMax: config.bodyBytesMax })
    const sessions = new Sessions(engine)
    const revocations = new Revocations(engine)
    const services: Services = {
      ...work,
      actions: work.actions.registry,
      engine,
      // Nobody signs in here; sessions and tokens of the services over the same store can be ended.
      auth: {
        principalOf: async () => localPrincipal(),
        signIn: async () => null,
        endSession: (id, also) => sessions.end(id, also),
        sessions: page => sessions.list(page),
        revoke: (tokenId, until, also) => revocations.revoke(tokenId, until, also),
      },
      log: null,
      version,
      settings,
    }
    return new LocalService(services, settings, async () => {
      await work.actions.close()
      await work.tables.close()
      await engine.store.close()
    })
  } catch (error) {
    await engine.store.close()
    throw error
  }
}

export function localPrincipal(): Principal {
  return { sub: whoami(), tenant: EVERY_TENANT, role: 'admin', by: 'token' }
}

/** The name the audit has for what is done at this machine's command line. */
function whoami(): string {
  try {
    return `local:${userInfo().username}`
  } catch {
    return 'local'
  }
}
