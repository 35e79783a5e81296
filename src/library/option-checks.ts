// What the option objects of the library may hold, apart from those of a scheduler.

import {
  anything,
  checkOptions,
  isFlag,
  isFunction,
  isKey,
  isLabel,
  isListOf,
  isObject,
  isOneOf,
  isPayload,
  isTags,
  isText,
  isWhole,
  type Check,
  type Checks,
} from '../core/spec/option-check.ts'
import { priorityNames } from '../core/spec.ts'
import type { SchedulerEvent } from './events.ts'
import type { AnyDefinition, RowPolicies, ScheduleEntry } from './options.ts'
import type { Policies, RetryOptions } from './policies.ts'
import { isDuration, isMoment } from './time-input.ts'
import { isTrigger, isTriggerOrList } from './trigger-check.ts'

const retryChecks: Checks<RetryOptions> = {
  limit: (found, field, value) => {
    if (value !== Infinity) isWhole(0)(found, field, value)
  },
  delay: isOneOf('fixed', 'exponential', 'relative'),
  base: isDuration,
  cap: isDuration,
  jitter: (found, field, value) => {
    const isShare = typeof value === 'number' && value >= 0 && value <= 1
    if (!isShare) found.add(field, value, 'a number from 0 to 1')
  },
  resetAfter: isDuration,
  exhausted: isOneOf('stop', 'next', 'wait'),
  yields: isFlag,
}

/** One of the names, or an object with these members. */
function isNamedOr(names: readonly string[], checks: Readonly<Record<string, Check>>): Check {
  const [member] = Object.keys(checks)
  return (found, field, value) => {
    if (typeof value === 'object' && value !== null) {
      checkOptions(found, value, checks, { field, required: [member!] })
    } else if (!names.includes(value as string)) {
      found.add(field, value, `one of ${names.join(', ')}, or { ${member}: … }`)
    }
  }
}

function falseOr(check: Check): Check {
  return (found, field, value) => {
    if (value !== false) check(found, field, value)
  }
}

const priorities = Object.values(priorityNames).map(name => name.toLowerCase())

const isPriority: Check = (found, field, value) => {
  const isNumber = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 6
  if (isNumber || priorities.includes(value as string)) return
  found.add(field, value, `1 to 6 or one of ${priorities.join(', ')}`)
}

export const policyChecks: Checks<Policies> = {
  overlap: isNamedOr(['skip', 'replace', 'allow', 'queue'], { queue: isWhole(1) }),
  missed: isNamedOr(['skip', 'once', 'all'], {
    all: isObject({ max: isWhole(1), maxAge: isDuration }),
  }),
  grace: isDuration,
  lateLimit: isDuration,
  retry: falseOr(isObject(retryChecks)),
  timeout: falseOr(isDuration),
  priority: isPriority,
  queue: isText,
  tenant: isText,
  user: isText,
  firstRun: isOneOf('next', 'now', 'if-due-now'),
  retention: isObject({ runs: isWhole(0), for: isDuration, payloads: isFlag }),
}

const rowChecks: Checks<RowPolicies> = {
  ...policyChecks,
  title: isLabel,
  description: isLabel,
  tags: isTags,
}

const isSchema: Check = (found, field, value) => {
  const schema = (value as { readonly '~standard'?: { validate?: unknown } } | null)?.['~standard']
  if (typeof schema?.validate === 'function') return
  found.add(field, value, 'a Standard Schema, such as z.object({ … })')
}

const entryChecks: Checks<ScheduleEntry<unknown>> = {
  key: isKey,
  when: isTrigger,
  payload: isPayload,
  tenant: isText,
  user: isText,
}

export const jobChecks: Checks<AnyDefinition['options']> = {
  ...rowChecks,
  input: isSchema,
  upgrade: isFunction,
  schedule: isTriggerOrList(isObject(entryChecks, { required: ['key', 'when'] })),
  payload: isPayload,
  run: isFunction,
}

export const triggerManyChecks = {
  delay: isDuration,
  tenant: isText,
  user: isText,
  priority: isPriority,
}

export const triggerChecks = { ...triggerManyChecks, idempotencyKey: isKey }
export const entryOptionChecks = { ...triggerChecks, input: anything }

export const scheduleChecks = {
  ...rowChecks,
  key: isKey,
  when: isTrigger,
  input: anything,
  revision: isWhole(0),
}

const madeChecks = {
  ...policyChecks,
  name: isText,
  when: isTrigger,
  payload: anything,
  tags: isTags,
}

export const createChecks = { ...madeChecks, id: isText, handler: isText }
export const editChecks = { ...madeChecks, revision: isWhole(0) }
export const runChecks = { payload: anything }
export const rangeChecks = { from: isMoment, to: isMoment }
export const callChecks: Checks<Policies & { tz?: string }> = { ...policyChecks, tz: isText }

const eventNames: Readonly<Record<SchedulerEvent['type'], true>> = {
  'run.started': true,
  'run.retrying': true,
  'run.finished': true,
  'run.skipped': true,
  'run.progress': true,
  'run.log': true,
  'job.changed': true,
  'job.ended': true,
  'job.removed': true,
  'alert.raised': true,
  'alert.cleared': true,
  'stream.lagged': true,
}

export const filterChecks = { job: isLabel, types: isListOf(eventNames) }
export const stopChecks = { grace: isDuration }
