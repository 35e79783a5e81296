// What a schedule of the fair queue and a pushed task are as specs: nothing else tells them from
// other jobs.

import { FAIR_SCHEDULE, FAIR_TASK } from '../core/fairness/fair.ts'
import type { Json } from '../core/json.ts'
import { laneOf } from '../core/fairness/lane.ts'
import {
  completeSpec,
  priorityNames,
  recurringDefaults,
  specDefaults,
  type JobSpec,
  type Priority,
} from '../core/spec.ts'
import type { Instant } from '../core/time.ts'
import type { CronTrigger } from '../core/schedule/trigger.ts'

export type PriorityName = Lowercase<(typeof priorityNames)[Priority]>
export type GivenPriority = Priority | PriorityName

export interface ScheduleInput {
  readonly cron: string
  /** Whose turn its tasks wait for. */
  readonly userId: string
  readonly priority?: GivenPriority
  readonly payload?: Json
  /** An IANA zone. Default UTC. */
  readonly timezone?: string
  readonly queue?: string
}

export type ScheduleChange = Partial<ScheduleInput> & { readonly isActive?: boolean }

export interface PushInput {
  readonly userId: string
  readonly payload?: Json
  readonly priority?: GivenPriority
  readonly queue?: string
  /** Who does it. Default `task`. */
  readonly handler?: string
  /** The same key makes the same task, however often it is pushed. */
  readonly key?: string
  /** Not before this moment. */
  readonly notBefore?: Instant | Date
}

export interface Of {
  readonly tenant: string
}

const { retry } = recurringDefaults

export function cronTrigger(expression: string, zone: string): CronTrigger {
  return { kind: 'cron', expression, zone, dialect: 'extended', dst: null }
}

export function scheduleSpec(input: ScheduleInput, { tenant }: Of): JobSpec {
  const { cron, userId, priority = specDefaults.priority, timezone = 'UTC' } = input
  return completeSpec({
    name: cron,
    handler: FAIR_SCHEDULE,
    tenant,
    lane: laneOf(tenant, userId),
    priority: toPriority(priority),
    queue: input.queue ?? specDefaults.queue,
    payload: input.payload ?? null,
    trigger: cronTrigger(cron, timezone),
    overlap: { policy: 'allow' },
    retry,
    timeoutMs: null,
    metadata: { cron, timezone },
  })
}

/** Whatever the change leaves out stays as it is. */
export function editedSchedule(spec: JobSpec, change: Partial<ScheduleInput>): JobSpec {
  const { trigger } = spec
  const before = trigger.kind === 'cron' ? trigger : cronTrigger('', 'UTC')
  const { cron = before.expression, timezone = before.zone } = change
  return {
    ...spec,
    ...(change.userId === undefined ? {} : { lane: laneOf(spec.tenant, change.userId) }),
    ...(change.priority === undefined ? {} : { priority: toPriority(change.priority) }),
    ...(change.payload === undefined ? {} : { payload: change.payload }),
    ...(change.queue === undefined ? {} : { queue: change.queue }),
    name: cron,
    trigger: { ...before, expression: cron, zone: timezone },
    metadata: { cron, timezone },
  }
}

export function pushSpec(input: PushInput, { tenant }: Of, now: Instant): JobSpec {
  const { userId, priority = specDefaults.priority, notBefore, handler = FAIR_TASK } = input
  const at = notBefore === undefined ? now : Math.max(now, Number(notBefore))
  return completeSpec({
    handler,
    tenant,
    lane: laneOf(tenant, userId),
    priority: toPriority(priority),
    queue: input.queue ?? specDefaults.queue,
    payload: input.payload ?? null,
    trigger: { kind: 'once', at },
    timeoutMs: null,
  })
}

/** What is no priority is left for the check of the spec to refuse. */
function toPriority(given: GivenPriority): Priority {
  const found = Object.entries(priorityNames).find(([, name]) => name.toLowerCase() === given)
  return found ? (Number(found[0]) as Priority) : (given as Priority)
}
