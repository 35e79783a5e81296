// From a body to the job behind a schedule: the policies of workflow schedules, said once.

import type { Registry } from '../../../actions/registry.ts'
import type { Json } from '../../../core/json.ts'
import { completeSpec, type JobSpec } from '../../../core/spec.ts'
import type { Trigger } from '../../../core/schedule/trigger.ts'
import { inFieldNames } from '../../use-cases/call/refusal.ts'
import type { CreateBody, PatchBody } from './body.ts'
import { withDescription } from './description.ts'

/** Retries wait at most so many intervals. */
const BACKOFF_INTERVALS_MAX = 10

export interface Maker {
  readonly tenant: string
  /** On whose behalf the workflow runs. */
  readonly owner: string
}

/**
 * | Field | Spec | Rule |
 * |---|---|---|
 * | interval_seconds | trigger: from the start of a run, first one interval from now | A2, A4, A14 |
 * | total_repeats | runLimit; 0 for none | A1, A5 |
 * | max_retries | retry.limit of each repeat; waits 1, 2, 4, 8, then 10 intervals; then it stops | A6 |
 * | timeout_seconds | timeoutMs of the whole run | A10 |
 * | workflow_id, trigger_node_id | action: the workflow and where its event comes in | A9, A15 |
 * | trigger_payload | payload of that action | A9 |
 * | description | metadata, see `description.ts` | A1 |
 * | (none) | overlap: skip; missed: once | A7, A11 |
 */
export function newSpec(body: CreateBody, { tenant, owner }: Maker, actions: Registry): JobSpec {
  const { workflow_id, trigger_node_id } = body
  const action = { kind: 'workflow', workflow_id, trigger_node_id, owner }
  return completeSpec({
    ...actions.specOf(action, body.trigger_payload as Json),
    tenant,
    name: body.name,
    trigger: everyOf(body.interval_seconds),
    missed: { policy: 'once' },
    overlap: { policy: 'skip' },
    retry: {
      limit: body.max_retries,
      backoff: { kind: 'relative', maxFactor: BACKOFF_INTERVALS_MAX },
      resetAfterMs: null,
      exhausted: 'stop',
      yields: false,
    },
    runLimit: limitOf(body.total_repeats),
    timeoutMs: body.timeout_seconds * 1_000,
    metadata: withDescription({}, body.description),
  })
}

/** What is left out stays as it is. */
export function editedSpec(spec: JobSpec, body: PatchBody, actions: Registry): JobSpec {
  const { name, description, interval_seconds, total_repeats, max_retries } = body
  const { timeout_seconds } = body
  return {
    ...spec,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { metadata: withDescription(spec.metadata, description) }),
    ...(interval_seconds === undefined ? {} : { trigger: everyOf(interval_seconds) }),
    ...(total_repeats === undefined ? {} : { runLimit: limitOf(total_repeats) }),
    ...(max_retries === undefined ? {} : { retry: { ...spec.retry, limit: max_retries } }),
    ...(timeout_seconds === undefined ? {} : { timeoutMs: timeout_seconds * 1_000 }),
    ...workOf(spec, body, actions),
  }
}

function workOf(spec: JobSpec, body: PatchBody, actions: Registry): Partial<JobSpec> {
  const { trigger_node_id, trigger_payload } = body
  const isSaid = trigger_node_id !== undefined || trigger_payload !== undefined
  const stored = isSaid ? actions.read(spec) : null
  if (stored === null) return {}
  const action =
    trigger_node_id === undefined ? stored.action : { ...stored.action, trigger_node_id }
  const payload = trigger_payload === undefined ? stored.payload : (trigger_payload as Json)
  return actions.specOf(action, payload)
}

function everyOf(seconds: number): Trigger {
  return { kind: 'interval', everyMs: seconds * 1_000, from: 'start', anchor: null }
}

function limitOf(repeats: number): number | null {
  return repeats === 0 ? null : repeats
}

const wireNames = new Map([
  ['trigger.everyMs', 'interval_seconds'],
  ['runLimit', 'total_repeats'],
  ['retry.limit', 'max_retries'],
  ['timeoutMs', 'timeout_seconds'],
  ['payload', 'trigger_payload'],
  ['metadata', 'description'],
])

/** A caller must find the name they wrote, not ours. */
export function inScheduleNames<T>(work: () => Promise<T>): Promise<T> {
  return inFieldNames(wireNames, work)
}
