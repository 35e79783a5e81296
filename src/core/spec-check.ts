// Refuses specs that are malformed or contradict themselves: every problem at once, each with
// field, value and rule.

import { CronError, isZone } from '../cron/index.ts'
import type { Problem } from './errors.ts'
import { refuse } from './errors.ts'
import { jsonBytes } from './json.ts'
import { limits } from './limits.ts'
import { checkCombinations } from './spec-combinations.ts'
import type { JobSpec, Retry } from './spec.ts'
import { INSTANT_MAX, isInstant } from './time.ts'
import { compileCron, type CronTrigger, type Trigger } from './trigger.ts'

export function checkSpec(spec: JobSpec): Problem[] {
  const shape = [
    ...checkTexts(spec),
    ...checkData(spec),
    ...checkTrigger(spec.trigger),
    ...checkBounds(spec),
    ...checkPolicies(spec),
    ...checkRetry(spec.retry),
  ]
  // Contradictions are only worth naming between parts that are each well formed.
  return shape.length > 0 ? shape : checkCombinations(spec)
}

export function assertSpec(spec: JobSpec): void {
  refuse('SPEC_INVALID', `job ${JSON.stringify(spec.name ?? '')} is not valid`, checkSpec(spec))
}

function checkTexts(spec: JobSpec): Problem[] {
  const problems: Problem[] = []
  for (const field of ['name', 'handler', 'queue', 'tenant', 'lane'] as const) {
    problems.push(...checkText(field, spec[field], limits.nameLength))
  }
  if (!Array.isArray(spec.tags) || spec.tags.length > limits.tags) {
    problems.push(problem('tags', spec.tags, `a list of at most ${limits.tags} texts`))
  } else {
    for (const tag of spec.tags) problems.push(...checkText('tags', tag, limits.nameLength))
  }
  return problems
}

/** Text without control characters: it travels through logs, keys and terminals. */
export function checkText(field: string, value: unknown, maxLength: number): Problem[] {
  if (typeof value !== 'string' || value.length === 0) {
    return [problem(field, value, 'a text that is not empty')]
  }
  if (value.length > maxLength) {
    return [problem(field, value, `at most ${maxLength} characters`)]
  }
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
  if (/[\u0000-\u001f\u007f]/.test(value)) {
    return [problem(field, value, 'no control characters')]
  }
  return []
}

function checkData(spec: JobSpec): Problem[] {
  return [
    ...checkJson('payload', spec.payload, limits.payloadBytes),
    ...checkJson('metadata', spec.metadata, limits.metadataBytes),
  ]
}

export function checkJson(field: string, value: unknown, maxBytes: number): Problem[] {
  const bytes = jsonBytes(value)
  if (bytes === null) return [problem(field, value, 'a value that can be written as JSON')]
  return bytes > maxBytes ? [problem(field, value, `at most ${maxBytes} bytes as JSON`)] : []
}

function checkTrigger(trigger: Trigger): Problem[] {
  switch (trigger?.kind) {
    case 'once':
      return checkInstant('trigger.at', trigger.at)
    case 'manual':
      return []
    case 'interval':
      return [
        ...checkWhole('trigger.everyMs', trigger.everyMs, limits.everyMsMin, limits.everyMsMax),
        ...checkOneOf('trigger.from', trigger.from, ['schedule', 'start', 'finish']),
        ...(trigger.anchor === null ? [] : checkInstant('trigger.anchor', trigger.anchor)),
      ]
    case 'cron':
      return checkCron(trigger)
    default:
      return [problem('trigger', trigger, 'once, interval, cron or manual')]
  }
}

function checkCron(trigger: CronTrigger): Problem[] {
  const problems = [
    ...checkOneOf('trigger.dialect', trigger.dialect, ['posix', 'extended']),
    ...(trigger.dst === null
      ? []
      : [
          ...checkOneOf('trigger.dst.gap', trigger.dst.gap, ['shift', 'skip']),
          ...checkOneOf('trigger.dst.fold', trigger.dst.fold, ['first', 'both']),
        ]),
  ]
  if (typeof trigger.zone !== 'string' || !isZone(trigger.zone)) {
    problems.push(problem('trigger.zone', trigger.zone, 'an IANA time zone such as Europe/Berlin'))
    return problems
  }
  if (problems.length > 0) return problems
  try {
    compileCron(trigger)
  } catch (error) {
    const rule = error instanceof CronError ? error.message : String(error)
    problems.push(problem('trigger.expression', trigger.expression, rule))
  }
  return problems
}

function checkBounds(spec: JobSpec): Problem[] {
  const problems: Problem[] = []
  if (spec.startAt !== null) problems.push(...checkInstant('startAt', spec.startAt))
  if (spec.endAt !== null) problems.push(...checkInstant('endAt', spec.endAt))
  if (spec.runLimit !== null) {
    problems.push(...checkWhole('runLimit', spec.runLimit, 1, limits.runLimitMax))
  }
  problems.push(...checkOneOf('first', spec.first, ['next', 'now', 'ifDue']))
  problems.push(...checkWhole('jitterMs', spec.jitterMs, 0, limits.delayMsMax))
  problems.push(...checkWhole('priority', spec.priority, limits.priorityMin, limits.priorityMax))
  return problems
}

function checkPolicies(spec: JobSpec): Problem[] {
  const { missed, overlap, retention } = spec
  const problems = [
    ...checkOneOf('missed', missed?.policy, ['skip', 'once', 'all']),
    ...checkOneOf('overlap', overlap?.policy, ['skip', 'queue', 'replace', 'allow']),
    ...checkWhole('graceMs', spec.graceMs, 0, limits.delayMsMax),
    ...checkWhole('retention.attempts', retention?.attempts, 0, limits.retainedAttemptsMax),
    ...checkWhole('retention.ageMs', retention?.ageMs, 0, limits.retainedMsMax),
  ]
  if (missed?.policy === 'all') {
    problems.push(...checkWhole('missed.max', missed.max, 1, limits.catchUpMax))
    problems.push(...checkWhole('missed.maxAgeMs', missed.maxAgeMs, 1, INSTANT_MAX))
  }
  if (overlap?.policy === 'queue') {
    problems.push(...checkWhole('overlap.limit', overlap.limit, 1, limits.queueOverlapMax))
  }
  if (spec.lateLimitMs !== null) {
    problems.push(...checkWhole('lateLimitMs', spec.lateLimitMs, 0, INSTANT_MAX))
  }
  if (spec.timeoutMs !== null) {
    problems.push(...checkWhole('timeoutMs', spec.timeoutMs, 1, limits.timeoutMsMax))
  }
  return problems
}

function checkRetry(retry: Retry): Problem[] {
  if (typeof retry !== 'object' || retry === null) {
    return [problem('retry', retry, 'a retry policy')]
  }
  const { limit, resetAfterMs } = retry
  return [
    ...(limit === null ? [] : checkWhole('retry.limit', limit, 0, limits.retryMax)),
    ...checkOneOf('retry.exhausted', retry.exhausted, ['stop', 'next', 'wait']),
    ...(typeof retry.yields === 'boolean'
      ? []
      : [problem('retry.yields', retry.yields, 'true or false')]),
    ...(resetAfterMs === null
      ? []
      : checkWhole('retry.resetAfterMs', resetAfterMs, 1, limits.delayMsMax)),
    ...checkBackoff(retry),
  ]
}

function checkBackoff({ backoff }: Retry): Problem[] {
  switch (backoff?.kind) {
    case 'fixed':
      return checkWhole('retry.backoff.delayMs', backoff.delayMs, 0, limits.delayMsMax)
    case 'exponential': {
      const { jitter } = backoff
      return [
        ...checkWhole('retry.backoff.baseMs', backoff.baseMs, 0, limits.delayMsMax),
        ...checkWhole('retry.backoff.maxMs', backoff.maxMs, 0, limits.delayMsMax),
        ...(typeof jitter === 'number' && jitter >= 0 && jitter <= 1
          ? []
          : [problem('retry.backoff.jitter', jitter, 'a number from 0 to 1')]),
      ]
    }
    case 'relative':
      return checkWhole('retry.backoff.maxFactor', backoff.maxFactor, 1, 1_000_000)
    default:
      return [problem('retry.backoff', backoff, 'fixed, exponential or relative')]
  }
}

function problem(field: string, value: unknown, rule: string): Problem {
  return { field, value, rule: `must be ${rule}` }
}

export function checkInstant(field: string, value: unknown): Problem[] {
  return isInstant(value) ? [] : [problem(field, value, 'a moment in whole epoch milliseconds')]
}

export function checkWhole(field: string, value: unknown, min: number, max: number): Problem[] {
  const fits = Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
  return fits ? [] : [problem(field, value, `a whole number from ${min} to ${max}`)]
}

function checkOneOf(field: string, value: unknown, allowed: readonly string[]): Problem[] {
  const fits = typeof value === 'string' && allowed.includes(value)
  return fits ? [] : [problem(field, value, `one of ${allowed.join(', ')}`)]
}
