// Pairs of choices that contradict each other, refused at creation with the reason.

import type { Problem } from '../errors.ts'
import type { JobSpec } from '../spec.ts'
import { isGrid, isRecurring } from '../schedule/trigger.ts'

export function checkCombinations(spec: JobSpec): Problem[] {
  const problems: Problem[] = []
  triggerRules(problems, spec)
  retryRules(problems, spec)
  boundRules(problems, spec)
  return problems
}

function triggerRules(problems: Problem[], spec: JobSpec): void {
  const { trigger, missed, overlap, first } = spec
  const floats = trigger.kind === 'interval' && trigger.from !== 'schedule'
  if (floats && missed.policy === 'all') {
    problems.push(
      clash(
        'missed',
        missed.policy,
        `an interval from the ${trigger.from} has no firings to replay`,
      ),
    )
  }
  if (trigger.kind === 'interval' && trigger.from === 'finish' && overlap.policy !== 'skip') {
    problems.push(
      clash(
        'overlap',
        overlap.policy,
        'an interval from the finish never fires during a run, so only skip fits',
      ),
    )
  }
  const holdsOne = overlap.policy === 'queue' || overlap.policy === 'allow'
  if (floats && trigger.from === 'start' && holdsOne) {
    problems.push(
      clash('overlap', overlap.policy, 'an interval from the start restarts with each run'),
    )
  }
  if (floats && trigger.anchor !== null) {
    problems.push(
      clash('trigger.anchor', trigger.anchor, 'only an interval from the schedule has a grid'),
    )
  }
  if (first === 'ifDue' && trigger.kind !== 'cron') {
    problems.push(clash('first', first, 'only a cron trigger can match the current minute'))
  }
  if (first === 'now' && (trigger.kind === 'once' || trigger.kind === 'manual')) {
    problems.push(clash('first', first, `a ${trigger.kind} trigger has no first firing to move`))
  }
}

function retryRules(problems: Problem[], spec: JobSpec): void {
  const { trigger, retry, overlap } = spec
  if (retry.exhausted === 'wait' && retry.resetAfterMs === null) {
    problems.push(
      clash('retry.exhausted', 'wait', 'there is no period to wait for: set retry.resetAfterMs'),
    )
  }
  if (!isRecurring(trigger) && retry.exhausted !== 'stop') {
    problems.push(
      clash('retry.exhausted', retry.exhausted, `a ${trigger.kind} trigger has no next firing`),
    )
  }
  if (retry.backoff.kind === 'relative' && trigger.kind !== 'interval') {
    problems.push(clash('retry.backoff', 'relative', 'only an interval trigger has an interval'))
  }
  if (retry.backoff.kind === 'exponential' && retry.backoff.maxMs < retry.backoff.baseMs) {
    problems.push(
      clash('retry.backoff.maxMs', retry.backoff.maxMs, 'must not be below retry.backoff.baseMs'),
    )
  }
  if (retry.yields && !isGrid(trigger)) {
    problems.push(
      clash('retry.yields', true, 'no firing is known in advance for a retry to give way to'),
    )
  }
  if (retry.yields && overlap.policy === 'allow') {
    problems.push(clash('retry.yields', true, 'with overlap allow a retry never stands in the way'))
  }
}

function boundRules(problems: Problem[], spec: JobSpec): void {
  const { trigger, startAt, endAt, runLimit, jitterMs } = spec
  const single = trigger.kind === 'once' || trigger.kind === 'manual'
  for (const [field, value] of [
    ['startAt', startAt],
    ['endAt', endAt],
    ['runLimit', runLimit],
  ] as const) {
    if (single && value !== null) {
      problems.push(clash(field, value, `a ${trigger.kind} trigger does not repeat`))
    }
  }
  if (startAt !== null && endAt !== null && endAt <= startAt) {
    problems.push(clash('endAt', endAt, 'must be after startAt'))
  }
  if (jitterMs > 0 && single) {
    problems.push(clash('jitterMs', jitterMs, `a ${trigger.kind} trigger has no crowd to spread`))
  }
  if (trigger.kind === 'interval' && jitterMs >= trigger.everyMs) {
    problems.push(clash('jitterMs', jitterMs, 'must be shorter than the interval'))
  }
}

function clash(field: string, value: unknown, rule: string): Problem {
  return { field, value, rule }
}
