// The API for one caller in this process: the routes, checks, refusals and records of the app, without
// a server around them. What is not asked for is not loaded.

import { answerError, answerUnknown, begin, requestId } from '../app/hooks.ts'
import type { AppParts, Request } from '../app/parts.ts'
import { admit } from '../../auth/access.ts'
import type { Principal } from '../../auth/principal.ts'
import { familyOf, type LoadRoutes } from './families.ts'
import { DeskReply, type Answer } from './reply.ts'
import { checkRequest, readBody, requestOf, routed, type Asked } from './request.ts'
import { RouteTable, type Found } from './table.ts'

export class Desk {
  readonly #parts: AppParts
  readonly #principal: Principal
  readonly #routes = new RouteTable()
  readonly #loading = new Map<LoadRoutes, Promise<void>>()

  /** Everything that is asked here is asked by `principal`. */
  constructor(parts: AppParts, principal: Principal) {
    this.#parts = parts
    this.#principal = principal
  }

  /** Refusals are answers too: it only rejects when the caller has gone. */
  async ask(asked: Asked): Promise<Answer> {
    const { signal } = asked
    signal?.throwIfAborted()
    const answering = this.#answer(asked)
    return signal === null ? answering : unlessGone(answering, signal)
  }

  async close(): Promise<void> {
    await this.#routes.close()
  }

  async #answer(asked: Asked): Promise<Answer> {
    const request = requestOf(asked, requestId(asked.headers, this.#parts.engine.ids))
    const reply = new DeskReply()
    begin(request, reply.face)
    try {
      const found = await this.#find(asked)
      if (found === null) answerUnknown(request, reply.face)
      else await this.#serve(request, reply, { found, body: asked.body })
    } catch (error) {
      answerError(error, request, reply.face, this.#parts)
    }
    return reply.answer()
  }

  async #find({ method, url }: Asked): Promise<Found | null> {
    const path = url.split('?', 1)[0]!
    const load = familyOf(method, path)
    if (load === null) return null
    let loaded = this.#loading.get(load)
    if (loaded === undefined) {
      loaded = load().then(add => add(this.#routes.app, this.#parts))
      this.#loading.set(load, loaded)
    }
    await loaded
    return this.#routes.find(method, path)
  }

  async #serve(request: Request, reply: DeskReply, { found, body }: Served): Promise<void> {
    const { route } = found
    routed(request, found)
    await admit(request, this.#parts, async () => this.#principal)
    readBody(request, body, this.#parts)
    const prepare = route.preValidation as unknown as Handle | undefined
    await prepare?.(request, reply.face)
    checkRequest(request, route)
    const handle = route.handler as unknown as Handle
    const made = await handle(request, reply.face)
    if (!reply.isSent) reply.send(made)
  }
}

interface Served {
  readonly found: Found
  readonly body: string | null
}

/** Handlers are typed by the schemas that were just checked. */
type Handle = (request: Request, reply: DeskReply['face']) => Promise<unknown>

/** Handlers go on, as they do when a connection is lost; nobody waits for them any more. */
function unlessGone(answering: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave)
    void answering.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject)
  })
}
