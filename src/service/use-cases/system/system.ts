// The nodes, their loops, the store, and what this process counted.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Json, JsonObject } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { type StoredRecord, NODE_KIND } from '../../../core/record.ts'
import { iso, type Instant } from '../../../core/time.ts'
import { problemOf } from '../call/refusal.ts'
import { EVERY_TENANT, mayAct } from '../../auth/principal.ts'
import { isoOrNull } from '../jobs/view.ts'
import { Counters, countersSchema } from './counters.ts'
import type { Call } from '../call/call.ts'
import { PerEngine } from '../call/per-engine.ts'
import { useCase } from '../call/use-case.ts'

const at = z.iso.datetime().nullable()

export const nodeSchema = z
  .strictObject({
    id: z.string(),
    is_this: z.boolean(),
    state: z.string(),
    started_at: at,
    uptime_ms: z.int().nullable(),
    last_tick_at: at,
    tick_age_ms: z.int().nullable(),
    slots: z.int().nullable(),
    running: z.int().nullable(),
    clock_offset_ms: z.number().nullable(),
    handlers: z.array(z.string()).nullable(),
    queues: z.array(z.string()).nullable(),
  })
  .meta({
    id: 'Node',
    description:
      'As it last told. Handlers and queues are shown to those of every tenant only; viewers of a ' +
      'tenant see another name, for that of a node names its host and process.',
  })

type NodeView = z.output<typeof nodeSchema>

export const answer = z
  .strictObject({
    now: z.iso.datetime(),
    version: z.string(),
    serving_since: z.iso.datetime(),
    uptime_ms: z.int(),
    state: z.string().meta({ description: 'Of the loop in this process.' }),
    last_tick_at: at.meta({ description: 'The newest good tick of any node.' }),
    store: z.strictObject({
      kind: z.string(),
      promise: z.string().nullable().meta({
        description: 'It names the place of the store: null for viewers of a tenant.',
      }),
      status: z.string(),
      clock_offset_ms: z.number(),
    }),
    nodes: z.array(nodeSchema),
    paused_queues: z.array(z.string()).nullable(),
    counters: countersSchema.nullable(),
  })
  .meta({ id: 'System' })

/** Counts what this process does from the first call on. */
export const serving = new PerEngine(engine => ({
  counters: new Counters(engine),
  since: engine.clock.now(),
}))
export const describeSystem = useCase({
  access: 'viewer',
  result: answer,
  handle: call => system(call, serving.of(call.engine)),
})

interface Own {
  readonly counters: Counters
  readonly since: Instant
}

/** Still an answer when the store is away: that is when people look. */
async function system(call: Call, { counters, since }: Own) {
  const { store, clock, node } = call.engine
  const { tenant, role } = call.caller
  const isWide = tenant === EVERY_TENANT
  const seesPlaces = isWide || mayAct(role, 'operator')
  const now = clock.now()
  let status = 'reachable'
  const whileAway = (error: unknown) => {
    status = problemOf(error, 'native').message
    return null
  }
  const records = await store
    .listRecords(NODE_KIND, { limit: limits.pageMax }, now)
    .catch(whileAway)
  const paused = isWide ? await store.pausedQueues().catch(whileAway) : null
  const nodes = nodesOf(records?.items ?? [], call, { now, isWide, seesPlaces })
  const ticks = nodes.flatMap(({ last_tick_at }) =>
    last_tick_at === null ? [] : [Date.parse(last_tick_at)],
  )
  return {
    now: iso(now),
    version: call.version,
    serving_since: iso(since),
    uptime_ms: Math.max(0, now - since),
    state: node.state,
    last_tick_at: ticks.length === 0 ? null : iso(Math.max(...ticks)),
    store: {
      kind: store.kind,
      promise: seesPlaces ? store.promise : null,
      status,
      clock_offset_ms: clock.offsetMs,
    },
    nodes,
    paused_queues: paused,
    counters: isWide ? counters.read() : null,
  }
}

interface Seen {
  readonly now: Instant
  readonly isWide: boolean
  /** Whether hosts, processes, files and servers may be named. */
  readonly seesPlaces: boolean
}

function nodesOf(records: readonly StoredRecord[], { engine }: Call, seen: Seen): NodeView[] {
  const { node, settings } = engine
  return records.map(({ key, value }) => {
    const isThis = key === settings.nodeId
    const told = nodeView(key, objectOf(value), seen)
    if (!isThis) return told
    // Our own is known to the moment; others tell theirs now and then.
    return {
      ...told,
      is_this: true,
      state: node.state,
      running: node.running,
      last_tick_at: isoOrNull(node.lastTickAt),
      tick_age_ms: node.lastTickAt === null ? null : Math.max(0, seen.now - node.lastTickAt),
    }
  })
}

function nodeView(id: string, facts: JsonObject, { now, isWide, seesPlaces }: Seen): NodeView {
  const startedAt = numberOf(facts.startedAt)
  const lastTickAt = numberOf(facts.lastTickAt)
  return {
    id: seesPlaces ? id : otherNameOf(id),
    is_this: false,
    state: typeof facts.state === 'string' ? facts.state : 'unknown',
    started_at: isoOrNull(startedAt),
    uptime_ms: startedAt === null ? null : Math.max(0, now - startedAt),
    last_tick_at: isoOrNull(lastTickAt),
    tick_age_ms: lastTickAt === null ? null : Math.max(0, now - lastTickAt),
    slots: numberOf(facts.slots),
    running: numberOf(facts.running),
    clock_offset_ms: numberOf(facts.offsetMs),
    handlers: isWide ? textsOf(facts.handlers) : null,
    queues: isWide ? textsOf(facts.queues) : null,
  }
}

/** The same for the same node, so that it can be followed. */
function otherNameOf(id: string): string {
  return `node-${createHash('sha256').update(id).digest('hex').slice(0, 8)}`
}

function objectOf(value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
