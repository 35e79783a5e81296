// An operation on many, as it is kept: what was asked, how far it is, what did not work.

import { z } from 'zod'
import type { JsonObject } from '../../../core/json.ts'
import { DAY, iso, MINUTE, type Instant, type Millis } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { notFound } from '../call/refusal.ts'
import type { Call } from '../call/call.ts'
import { maySee } from '../../auth/principal.ts'
import { isoOrNull } from '../jobs/view.ts'
import { verbs, type BulkVerb } from './body.ts'

const KIND = 'bulk'
const KEPT_MS: Millis = 7 * DAY
/** An operation that says nothing for so long has lost its process. */
const SILENT_MS: Millis = MINUTE
export const FAILURES_KEPT = 100

export interface Failure {
  readonly id: string
  readonly type: string
  readonly detail: string
}

export interface Operation {
  readonly id: string
  readonly tenant: string
  readonly actor: string
  readonly action: BulkVerb
  readonly on: 'jobs' | 'runs'
  readonly state: 'running' | 'done' | 'stopped' | 'interrupted'
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly failures: readonly Failure[]
  readonly isStopAsked: boolean
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly finishedAt: Instant | null
}

export interface Held {
  readonly operation: Operation
  readonly version: number
}

export const operationSchema = z
  .strictObject({
    id: z.string(),
    action: z.enum(verbs),
    on: z.enum(['jobs', 'runs']),
    status: z.enum(['running', 'done', 'stopped', 'interrupted']).meta({
      description: 'Interrupted: its process ended before it did. What is left can be asked again.',
    }),
    total: z.int(),
    done: z.int(),
    failed: z.int(),
    failures: z
      .array(z.strictObject({ id: z.string(), type: z.string(), detail: z.string() }))
      .meta({ description: `The first ${FAILURES_KEPT}.` }),
    actor: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'BulkOperation' })

export function operationView(held: Operation, now: Instant): z.output<typeof operationSchema> {
  const isSilent = held.state === 'running' && now - held.updatedAt > SILENT_MS
  return {
    id: held.id,
    action: held.action,
    on: held.on,
    status: isSilent ? 'interrupted' : held.state,
    total: held.total,
    done: held.done,
    failed: held.failed,
    failures: held.failures.map(failure => ({ ...failure })),
    actor: held.actor,
    created_at: iso(held.createdAt),
    updated_at: iso(held.updatedAt),
    finished_at: isoOrNull(held.finishedAt),
  }
}

/** Writes it if nobody else did since; says whether it was written. */
export async function save(
  engine: Engine,
  operation: Operation,
  version: number,
): Promise<boolean> {
  const now = engine.clock.now()
  const write = {
    kind: KIND,
    key: operation.id,
    value: operation as unknown as JsonObject,
    expectedVersion: version,
    expireAt: now + KEPT_MS,
  }
  const [result] = await engine.store.putRecords([write], now)
  return result === 'put'
}

export async function load({ store, clock }: Engine, id: string): Promise<Held | null> {
  const [record] = await store.getRecords(KIND, [id], clock.now())
  if (!record) return null
  return { operation: record.value as unknown as Operation, version: record.version }
}

export async function visibleOperation({ engine, caller }: Call, id: string): Promise<Held> {
  const held = await load(engine, id)
  if (held === null || !maySee(caller, held.operation.tenant)) {
    throw notFound('there is no such operation')
  }
  return held
}
