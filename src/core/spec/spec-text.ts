// A spec as stores keep it: only what differs from the defaults, which makes it a third as long.
// The text names the defaults it was written against, so changing them never changes stored jobs.

import { isActionName } from './action-name.ts'
import { DamagedRecord } from '../stored/damage.ts'
import { assertShape } from './spec-shape.ts'
import {
  completeSpec,
  recurringDefaults,
  specDefaults,
  type JobSpec,
  type SpecDefaults,
} from '../spec.ts'
import type { Trigger } from '../schedule/trigger.ts'

/**
 * By number: a new set of defaults is added behind the others, none is ever altered. Sets 1 and 2 are
 * from before jobs were marked as actions: there the name alone says it.
 */
const generations: readonly (SpecDefaults | null)[] = [
  null,
  specDefaults,
  recurringDefaults,
  specDefaults,
  recurringDefaults,
]
const SINGLE = 3
const RECURRING = 4

/** As it comes out of JSON. */
export type StoredSpec = JobSpec | SpecText

interface SpecText extends Partial<JobSpec> {
  readonly defaults: number
  readonly handler: string
  readonly trigger: JobSpec['trigger']
}

/**
 * Parts are compared by identity: one that merely looks like a default is written out. Each by its
 * name: looking fields up in a loop costs more than writing them.
 */
export function specText(spec: JobSpec): string {
  const { handler, name, lane, tenant, retry } = spec
  // The sets differ in `retry` alone, so its value says which of them makes the shorter text.
  const isRecurring = retry === recurringDefaults.retry
  return (
    `{"defaults":${isRecurring ? RECURRING : SINGLE},"handler":${JSON.stringify(handler)}` +
    `,"trigger":${triggerText(spec.trigger)}` +
    part('isAction', spec.isAction, specDefaults.isAction) +
    part('name', name, handler) +
    part('lane', lane, tenant) +
    part('payload', spec.payload, specDefaults.payload) +
    part('queue', spec.queue, specDefaults.queue) +
    part('tenant', tenant, specDefaults.tenant) +
    part('priority', spec.priority, specDefaults.priority) +
    part('first', spec.first, specDefaults.first) +
    part('startAt', spec.startAt, specDefaults.startAt) +
    part('endAt', spec.endAt, specDefaults.endAt) +
    part('runLimit', spec.runLimit, specDefaults.runLimit) +
    part('jitterMs', spec.jitterMs, specDefaults.jitterMs) +
    part('missed', spec.missed, specDefaults.missed) +
    part('overlap', spec.overlap, specDefaults.overlap) +
    part('retry', retry, isRecurring ? retry : specDefaults.retry) +
    part('graceMs', spec.graceMs, specDefaults.graceMs) +
    part('lateLimitMs', spec.lateLimitMs, specDefaults.lateLimitMs) +
    part('timeoutMs', spec.timeoutMs, specDefaults.timeoutMs) +
    part('retention', spec.retention, specDefaults.retention) +
    part('tags', spec.tags, specDefaults.tags) +
    part('metadata', spec.metadata, specDefaults.metadata) +
    part('payloadHistory', spec.payloadHistory, undefined) +
    '}'
  )
}

function part(field: keyof JobSpec, value: unknown, usual: unknown): string {
  return value === usual ? '' : `,"${field}":${JSON.stringify(value)}`
}

/** Most of what is made by the thousand runs once. */
function triggerText(trigger: Trigger): string {
  return trigger.kind === 'once' ? `{"kind":"once","at":${trigger.at}}` : JSON.stringify(trigger)
}

/** Throws DamagedRecord for what is no spec. */
export function parseSpec(text: string): JobSpec {
  let stored: unknown
  try {
    stored = JSON.parse(text)
  } catch {
    throw new DamagedRecord('spec', 'the stored spec is not JSON')
  }
  return specFrom(stored as StoredSpec)
}

/** What the text held; a spec that names no defaults was written with all of its fields. */
export function specFrom(stored: StoredSpec): JobSpec {
  if (typeof stored !== 'object' || stored === null) {
    throw new DamagedRecord('spec', 'the stored spec is not an object')
  }
  if (!('defaults' in stored)) return assertShape(withActionMark(stored))
  const { defaults } = stored
  const base = generations[defaults]
  if (!base && Number.isSafeInteger(defaults) && defaults >= generations.length)
    throw new RangeError(`a spec written against defaults ${defaults} is from a newer Carillon`)
  if (!base) throw new DamagedRecord('spec', 'the stored spec names no known set of defaults')
  // As it was made: what all specs have in common the engine knows by heart.
  const spec = completeSpec(defaults < SINGLE ? withActionMark(stored) : stored, base)
  const { payloadHistory } = stored
  return assertShape(payloadHistory === undefined ? spec : { ...spec, payloadHistory })
}

function withActionMark<S extends StoredSpec>(stored: S): S {
  const { handler } = stored
  return { ...stored, isAction: typeof handler === 'string' && isActionName(handler) }
}
