// Refuses specs that are malformed or contradict themselves: every problem at once, each with
// field, value and rule.

import { CronError, isZone } from '../../cron/index.ts'
import { isActionName, RESERVED_RULE } from './action-name.ts'
import type { Problem } from '../errors.ts'
import { refuse } from '../errors.ts'
import { Findings } from '../findings.ts'
import { limits } from '../limits.ts'
import { checkCombinations } from './spec-combinations.ts'
import type { JobSpec, Retry } from '../spec.ts'
import { INSTANT_MAX } from '../time.ts'
import { compileCron, type CronTrigger, type Trigger } from '../schedule/trigger.ts'

export function checkSpec(spec: JobSpec): readonly Problem[] {
  const found = new Findings()
  checkTexts(found, spec)
  found.json('payload', spec.payload, limits.payloadBytes)
  found.json('metadata', spec.metadata, limits.metadataBytes)
  checkTrigger(found, spec.trigger)
  checkBounds(found, spec)
  checkPolicies(found, spec)
  checkRetry(found, spec.retry)
  // Contradictions are only worth naming between parts that are each well formed.
  return found.problems.length > 0 ? found.problems : checkCombinations(spec)
}

export function assertSpec(spec: JobSpec): void {
  refuseSpec(spec, checkSpec(spec))
}

/**
 * Specs made alike share most of their parts: what the one before had too is not looked at again.
 * By identity, so nothing may change between the two looks.
 */
export function assertSpecs(jobs: readonly { readonly spec: JobSpec }[]): void {
  let before: JobSpec | null = null
  for (const { spec } of jobs) {
    if (before === null || !isAlike(spec, before)) assertSpec(spec)
    else refuseSpec(spec, checkOwn(spec, before))
    before = spec
  }
}

function refuseSpec(spec: JobSpec, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  refuse('SPEC_INVALID', `job ${JSON.stringify(spec.name ?? '')} is not valid`, problems)
}

/** The same in everything that rules about two parts ask for. */
function isAlike(a: JobSpec, b: JobSpec): boolean {
  return (
    (a.trigger === b.trigger || isAlikeTrigger(a.trigger, b.trigger)) &&
    a.isAction === b.isAction &&
    a.retry === b.retry &&
    a.retention === b.retention &&
    a.missed === b.missed &&
    a.overlap === b.overlap &&
    a.tags === b.tags &&
    a.metadata === b.metadata &&
    a.priority === b.priority &&
    a.first === b.first &&
    a.startAt === b.startAt &&
    a.endAt === b.endAt &&
    a.runLimit === b.runLimit &&
    a.jitterMs === b.jitterMs &&
    a.graceMs === b.graceMs &&
    a.lateLimitMs === b.lateLimitMs &&
    a.timeoutMs === b.timeoutMs
  )
}

/** Of cron and once, only the kind matters to the rest of the spec. */
function isAlikeTrigger(a: Trigger, b: Trigger): boolean {
  return a?.kind === b?.kind && (a?.kind === 'once' || a?.kind === 'cron')
}

/** What is left to check beside a spec that is alike and was found well formed. */
function checkOwn(spec: JobSpec, before: JobSpec): readonly Problem[] {
  const found = new Findings()
  for (const field of texts) {
    if (spec[field] !== before[field]) found.text(field, spec[field], limits.nameLength)
  }
  if (spec.handler !== before.handler) checkActionName(found, spec)
  if (spec.payload !== before.payload) found.json('payload', spec.payload, limits.payloadBytes)
  if (spec.trigger !== before.trigger) checkTrigger(found, spec.trigger)
  return found.problems
}

const texts = ['name', 'handler', 'queue', 'tenant', 'lane'] as const

/** Whoever may push tasks or name handlers may not thereby send requests or run commands. */
function checkActionName(found: Findings, { handler, isAction }: JobSpec): void {
  if (typeof handler !== 'string' || isActionName(handler) === isAction) return
  const rule = isAction ? 'the name of a built-in action' : RESERVED_RULE
  found.add('handler', handler, rule)
}

function checkTexts(found: Findings, spec: JobSpec): void {
  for (const field of texts) found.text(field, spec[field], limits.nameLength)
  checkActionName(found, spec)
  if (!Array.isArray(spec.tags) || spec.tags.length > limits.tags) {
    found.add('tags', spec.tags, `a list of at most ${limits.tags} texts`)
  } else {
    for (const tag of spec.tags) found.text('tags', tag, limits.nameLength)
  }
}

const origins = ['schedule', 'start', 'finish']

function checkTrigger(found: Findings, trigger: Trigger): void {
  switch (trigger?.kind) {
    case 'once':
      found.instant('trigger.at', trigger.at)
      return
    case 'manual':
      return
    case 'interval':
      found.whole('trigger.everyMs', trigger.everyMs, limits.everyMsMin, limits.everyMsMax)
      found.oneOf('trigger.from', trigger.from, origins)
      if (trigger.anchor !== null) found.instant('trigger.anchor', trigger.anchor)
      return
    case 'cron':
      checkCron(found, trigger)
      return
    default:
      found.add('trigger', trigger, 'once, interval, cron or manual')
  }
}

function checkCron(found: Findings, trigger: CronTrigger): void {
  const before = found.problems.length
  found.oneOf('trigger.dialect', trigger.dialect, ['posix', 'extended'])
  if (trigger.dst !== null) {
    found.oneOf('trigger.dst.gap', trigger.dst.gap, ['shift', 'skip'])
    found.oneOf('trigger.dst.fold', trigger.dst.fold, ['first', 'both'])
  }
  if (typeof trigger.zone !== 'string' || !isZone(trigger.zone)) {
    found.add('trigger.zone', trigger.zone, 'an IANA time zone such as Europe/Berlin')
  }
  if (found.problems.length > before) return
  try {
    compileCron(trigger)
  } catch (error) {
    const rule = error instanceof CronError ? error.message : String(error)
    found.add('trigger.expression', trigger.expression, rule)
  }
}

const firsts = ['next', 'now', 'ifDue']

function checkBounds(found: Findings, spec: JobSpec): void {
  if (spec.startAt !== null) found.instant('startAt', spec.startAt)
  if (spec.endAt !== null) found.instant('endAt', spec.endAt)
  if (spec.runLimit !== null) found.whole('runLimit', spec.runLimit, 1, limits.runLimitMax)
  found.oneOf('first', spec.first, firsts)
  found.whole('jitterMs', spec.jitterMs, 0, limits.delayMsMax)
  found.whole('priority', spec.priority, limits.priorityMin, limits.priorityMax)
}

const missedPolicies = ['skip', 'once', 'all']
const overlapPolicies = ['skip', 'queue', 'replace', 'allow']

function checkPolicies(found: Findings, spec: JobSpec): void {
  const { missed, overlap, retention } = spec
  found.oneOf('missed', missed?.policy, missedPolicies)
  found.oneOf('overlap', overlap?.policy, overlapPolicies)
  found.whole('graceMs', spec.graceMs, 0, limits.delayMsMax)
  found.whole('retention.attempts', retention?.attempts, 0, limits.retainedAttemptsMax)
  found.whole('retention.ageMs', retention?.ageMs, 0, limits.retainedMsMax)
  const { payloads } = retention ?? {}
  if (payloads !== undefined && typeof payloads !== 'boolean') {
    found.add('retention.payloads', payloads, 'true or false')
  }
  if (missed?.policy === 'all') {
    found.whole('missed.max', missed.max, 1, limits.catchUpMax)
    found.whole('missed.maxAgeMs', missed.maxAgeMs, 1, INSTANT_MAX)
  }
  if (overlap?.policy === 'queue') {
    found.whole('overlap.limit', overlap.limit, 1, limits.queueOverlapMax)
  }
  if (spec.lateLimitMs !== null) found.whole('lateLimitMs', spec.lateLimitMs, 0, INSTANT_MAX)
  if (spec.timeoutMs !== null) found.whole('timeoutMs', spec.timeoutMs, 1, limits.timeoutMsMax)
}

const exhaustions = ['stop', 'next', 'wait']

function checkRetry(found: Findings, retry: Retry): void {
  if (typeof retry !== 'object' || retry === null) {
    found.add('retry', retry, 'a retry policy')
    return
  }
  const { limit, resetAfterMs, yields } = retry
  if (limit !== null) found.whole('retry.limit', limit, 0, limits.retryMax)
  found.oneOf('retry.exhausted', retry.exhausted, exhaustions)
  if (typeof yields !== 'boolean') found.add('retry.yields', yields, 'true or false')
  if (resetAfterMs !== null) {
    found.whole('retry.resetAfterMs', resetAfterMs, 1, limits.delayMsMax)
  }
  checkBackoff(found, retry)
}

function checkBackoff(found: Findings, { backoff }: Retry): void {
  switch (backoff?.kind) {
    case 'fixed':
      found.whole('retry.backoff.delayMs', backoff.delayMs, 0, limits.delayMsMax)
      return
    case 'exponential': {
      const { jitter } = backoff
      found.whole('retry.backoff.baseMs', backoff.baseMs, 0, limits.delayMsMax)
      found.whole('retry.backoff.maxMs', backoff.maxMs, 0, limits.delayMsMax)
      const isShare = typeof jitter === 'number' && jitter >= 0 && jitter <= 1
      if (!isShare) found.add('retry.backoff.jitter', jitter, 'a number from 0 to 1')
      return
    }
    case 'relative':
      found.whole('retry.backoff.maxFactor', backoff.maxFactor, 1, 1_000_000)
      return
    default:
      found.add('retry.backoff', backoff, 'fixed, exponential or relative')
  }
}
