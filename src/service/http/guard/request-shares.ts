// How many requests of a tenant are worked on at once in this process: further ones wait, so that a
// tenant that sends thousands keeps its own waiting and nobody else's.

import { TenantTurns } from '../../../actions/guard/tenant-turns.ts'
import type { App, AppParts, Request } from '../app/parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'

/** Requests of one tenant that wait for its share; each keeps a connection open. */
const WAITING_MAX = 1_000

const leaving = new WeakMap<Request, () => void>()

/** Called by routes that begin to wait for something else, under a share of their own. */
export function leaveShare(request: Request): void {
  leaving.get(request)?.()
}

/** The result lets a request in as soon as its tenant has room, and throws when too many wait. */
export function shareRequests(
  app: App,
  { settings, engine }: Pick<AppParts, 'settings' | 'engine'>,
): (request: Request, tenant: string) => Promise<void> {
  const turns = new TenantTurns({ all: Infinity, each: settings.tenantRequestsMax })
  app.addHook('onSend', async request => leaveShare(request))
  // Who hangs up leaves work behind that goes on; it ends with an answer, which nobody may ask for.
  app.addHook('onResponse', async (request, reply) => {
    if (reply.raw.writableFinished) leaveShare(request)
    else engine.clock.after(settings.requestTimeoutMs, () => leaveShare(request))
  })
  return async (request, tenant) => {
    if (turns.waitingOf(tenant) >= WAITING_MAX) {
      const detail = `too many requests of this tenant at once: at most ${WAITING_MAX} wait here`
      throw new HttpProblem('rate-limited', detail, { retryAfterSeconds: 1 })
    }
    const gone = new AbortController()
    const { socket } = request.raw
    const leave = () => gone.abort(new HttpProblem('rate-limited', 'the caller has gone'))
    socket.on('close', leave)
    try {
      leaving.set(request, await turns.take(tenant, gone.signal))
    } finally {
      socket.off('close', leave)
    }
  }
}
