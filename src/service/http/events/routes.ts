// `/api/v1/events`: what happens, as it happens, as a stream that can be taken up again.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { iso, MINUTE, SECOND, type Millis } from '../../../core/time.ts'
import type { AppParts, Request, Routes } from '../app/parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { refuseInvalid } from '../../use-cases/call/refusal.ts'
import { callerOf, isStillAllowed } from '../../auth/access.ts'
import { scopeOf } from '../../auth/principal.ts'
import { leaveShare } from '../../auth/request-shares.ts'
import { Connection } from './connection.ts'
import { settledFacts, topics, type Topic } from '../../events/facts.ts'
import { Hub } from '../../events/hub.ts'
import { frame, idOf, parseId, type Place } from '../../events/ring.ts'

const CONNECTIONS_MAX = 500
/** Of these, those of one tenant: the others find some free. */
const PER_TENANT_MAX = 250
const PER_CALLER_MAX = 10
/** Who was away for longer reads anew. */
const AWAY_MAX: Millis = 10 * MINUTE
const OVERLAP_MS: Millis = 2 * SECOND
const RETRY_MS = 3_000

const topicPattern = new RegExp(`^(?:${topics.join('|')})(?:,(?:${topics.join('|')}))*$`)

export const query = z.object({
  topics: z
    .string()
    .regex(topicPattern, `must be a comma list of ${topics.join(', ')}`)
    .default('run,job,counts'),
  job: z.string().min(1).max(limits.idLength).optional(),
  after: z
    .string()
    .max(40)
    .optional()
    .meta({ description: 'The id of the last event read, where no header can be sent.' }),
})

type Query = z.output<typeof query>

export const eventRoutes: Routes = (app, parts) => {
  const hub = new Hub(parts.engine)
  app.addHook('preClose', async () => hub.close())
  app.route({
    method: 'GET',
    url: '/api/v1/events',
    config: { access: 'viewer' },
    schema: {
      tags: ['events'],
      summary: 'What happens, as server-sent events; Last-Event-ID takes it up again',
      querystring: query,
      response: {
        200: {
          description: 'Events named run.*, job.*, counts, hello, resync and end.',
          content: { 'text/event-stream': { schema: z.unknown() } },
        },
      },
    },
    handler: async (request, reply) => {
      const connection = await open(request, parts, request.query, hub)
      leaveShare(request)
      return reply
        .header('Content-Type', 'text/event-stream; charset=utf-8')
        .header('Cache-Control', 'no-cache, no-transform')
        .header('X-Accel-Buffering', 'no')
        .send(connection.stream)
    },
  })
}

async function open(
  request: Request,
  parts: AppParts,
  asked: Query,
  hub: Hub,
): Promise<Connection> {
  const principal = callerOf(request)
  const { tenant, sub } = principal
  const limit = limitReached(hub, tenant, sub)
  if (limit !== null) {
    const detail = `too many open streams: at most ${limit}`
    throw new HttpProblem('rate-limited', detail, { retryAfterSeconds: 10 })
  }
  const place = placeOf(request, asked)
  const connection = new Connection(principal, {
    topics: new Set(asked.topics.split(',') as Topic[]),
    jobId: asked.job ?? null,
  })
  const isAllowed = () => isStillAllowed(request, parts)
  connection.send(`retry: ${RETRY_MS}\n\n`)
  const isWhole = await hub.join(connection, isAllowed, place)
  if (!isWhole) await replay(connection, parts, place!, hub)
  const head = hub.head()
  connection.send(frame(idOf(head), 'hello', { now: iso(head.at) }))
  return connection
}

function limitReached(hub: Hub, tenant: string, sub: string): string | null {
  if (hub.sizeOf(tenant, sub) >= PER_CALLER_MAX) return `${PER_CALLER_MAX} for each caller`
  if (hub.sizeOf(tenant) >= PER_TENANT_MAX) return `${PER_TENANT_MAX} for each tenant`
  return hub.size >= CONNECTIONS_MAX ? `${CONNECTIONS_MAX} in one process` : null
}

function placeOf(request: Request, { after }: Query): Place | null {
  const header = request.headers['last-event-id']
  const given = typeof header === 'string' && header !== '' ? header : after
  if (given === undefined) return null
  const place = parseId(given)
  const problem = { field: 'after', value: given, rule: 'must be the id of an event' }
  refuseInvalid('native', place === null ? [problem] : [])
  return place
}

/** The hub that told them is gone: the ends of runs are in the store, the rest is read anew. */
async function replay(
  connection: Connection,
  { engine }: AppParts,
  place: Place,
  hub: Hub,
): Promise<void> {
  const { store, clock } = engine
  const { epoch } = hub.head()
  const filter = { ...scopeOf(connection.principal), since: place.at - OVERLAP_MS }
  const isRecent = clock.now() - place.at <= AWAY_MAX
  const page = isRecent
    ? await store.attempts(filter, { limit: limits.pageMax, newestFirst: true })
    : { items: [], cursor: null }
  const jobs = await store.get([...new Set(page.items.map(({ jobId }) => jobId))])
  const byId = new Map(jobs.map(job => [job.id, job]))
  const ended = [...page.items].sort((a, b) => a.finishedAt - b.finishedAt)
  for (const attempt of ended) {
    const job = byId.get(attempt.jobId)
    for (const fact of job ? settledFacts(job, attempt) : []) {
      // Number 0 comes before everything this hub told.
      const id = idOf({ at: attempt.finishedAt, seq: 0, epoch })
      if (connection.accepts(fact)) connection.send(frame(id, fact.type, fact.data))
    }
  }
  const reason = isRecent && page.cursor === null ? 'restarted' : 'too old'
  connection.send(frame(null, 'resync', { reason }))
}
