// Opening a stream of what happens, from now on or from where a reader broke off.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { iso, MINUTE, SECOND, type Millis } from '../../../core/time.ts'
import { scopeOf } from '../../auth/principal.ts'
import { Connection } from '../../events/connection.ts'
import { settledFacts, topics, type Topic } from '../../events/facts.ts'
import { Hub } from '../../events/hub.ts'
import { frame, idOf, parseId, type Place } from '../../events/ring.ts'
import type { Engine } from '../../../create-engine.ts'
import type { Call } from '../call/call.ts'
import { PerEngine } from '../call/per-engine.ts'
import { HttpProblem } from '../call/problem.ts'
import { refuseInvalid } from '../call/refusal.ts'

const CONNECTIONS_MAX = 500
/** Of these, those of one tenant: the others find some free. */
const PER_TENANT_MAX = 250
const PER_CALLER_MAX = 10
/** Who was away for longer reads anew. */
const AWAY_MAX: Millis = 10 * MINUTE
const OVERLAP_MS: Millis = 2 * SECOND
const RETRY_MS = 3_000

const topicPattern = new RegExp(`^(?:${topics.join('|')})(?:,(?:${topics.join('|')}))*$`)

export const eventQuery = z.object({
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

type Query = z.output<typeof eventQuery>

/** What a subscription is asked with: a call without a body, and the last event that was read. */
export type Subscriber = Pick<Call, 'engine' | 'caller' | 'connection'>

export const hubs = new PerEngine(engine => new Hub(engine))

/** `lastId` wins over `after`: it is what a connection that broke off has read. */
export async function subscribe(
  { engine, caller, connection: { isStillAllowed } }: Subscriber,
  query: Query,
  lastId: string | null = null,
): Promise<Connection> {
  const hub = hubs.of(engine)
  const limit = limitReached(hub, caller.tenant, caller.sub)
  if (limit !== null) {
    const detail = `too many open streams: at most ${limit}`
    throw new HttpProblem('rate-limited', detail, { retryAfterSeconds: 10 })
  }
  const place = placeOf(lastId ?? query.after)
  const connection = new Connection(caller, {
    topics: new Set(query.topics.split(',') as Topic[]),
    jobId: query.job ?? null,
  })
  connection.send(`retry: ${RETRY_MS}\n\n`)
  const isWhole = await hub.join(connection, isStillAllowed, place)
  if (!isWhole) await replay(connection, engine, place!, hub)
  const head = hub.head()
  connection.send(frame(idOf(head), 'hello', { now: iso(head.at) }))
  return connection
}

function limitReached(hub: Hub, tenant: string, sub: string): string | null {
  if (hub.sizeOf(tenant, sub) >= PER_CALLER_MAX) return `${PER_CALLER_MAX} for each caller`
  if (hub.sizeOf(tenant) >= PER_TENANT_MAX) return `${PER_TENANT_MAX} for each tenant`
  return hub.size >= CONNECTIONS_MAX ? `${CONNECTIONS_MAX} in one process` : null
}

function placeOf(given: string | undefined): Place | null {
  if (given === undefined) return null
  const place = parseId(given)
  const problem = { field: 'after', value: given, rule: 'must be the id of an event' }
  refuseInvalid('native', place === null ? [problem] : [])
  return place
}

/** The hub that told them is gone: the ends of runs are in the store, the rest is read anew. */
async function replay(
  connection: Connection,
  { store, clock }: Engine,
  place: Place,
  hub: Hub,
): Promise<void> {
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
