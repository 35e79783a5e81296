// The policies of a job in sentences.

import { plural, spanText } from '../../components/format.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Policies {
  readonly missed: unknown
  readonly overlap: unknown
  readonly retry: Fields
  readonly timeout_seconds: number | null
  readonly late_limit_seconds: number | null
  readonly jitter_seconds: number
  readonly run_limit: number | null
  readonly retention: { readonly attempts: number; readonly age_seconds: number }
}

const span = (seconds: unknown) => spanText(Number(seconds) * 1_000)

function missedText(missed: unknown): string {
  if (missed === 'skip') return 'Missed while down: not made up for.'
  if (missed === 'once') return 'Missed while down: run once.'
  const { max, max_age_seconds } = (missed ?? {}) as Fields
  const most = `${plural(Number(max), 'run')}, none older than ${span(max_age_seconds)}`
  return `Missed while down: all are run, at most ${most}.`
}

function overlapText(overlap: unknown): string {
  switch (overlap) {
    case 'skip':
      return 'Still running when it fires: that firing is skipped.'
    case 'replace':
      return 'Still running when it fires: the old run is aborted.'
    case 'allow':
      return 'Still running when it fires: both run side by side.'
    default: {
      const { limit } = (overlap ?? {}) as Fields
      return `Still running when it fires: up to ${plural(Number(limit), 'firing')} wait behind it.`
    }
  }
}

function backoffText({
  kind,
  delay_seconds,
  base_seconds,
  max_seconds,
  max_factor,
}: Fields): string {
  switch (kind) {
    case 'fixed':
      return `after ${span(delay_seconds)} each`
    case 'exponential': {
      const first = Number(base_seconds)
      const steps = [1, 2, 4].map(factor => span(Math.min(first * factor, Number(max_seconds))))
      return `after ${steps.join(', ')}… (at most ${span(max_seconds)})`
    }
    default:
      return `at growing parts of its interval (at most ${String(max_factor)} times it)`
  }
}

const ends: Readonly<Record<string, string>> = {
  stop: 'then given up',
  next: 'then it waits for its next firing',
  wait: 'then it waits for the count to be reset',
}

function retryText(retry: Fields): string {
  const { limit, backoff, exhausted, yields } = retry
  const end = ends[String(exhausted)] ?? ''
  const gives = yields === true ? ' A waiting retry gives way to the next firing.' : ''
  if (limit === 0) return `On failure: no retry, ${end}.${gives}`
  const times = limit === null ? 'retried without end' : plural(Number(limit), 'retry', 'retries')
  return `On failure: ${times} ${backoffText((backoff ?? {}) as Fields)}, ${end}.${gives}`
}

export function policySentences(job: Policies): string[] {
  const { timeout_seconds: timeout, late_limit_seconds: late, retention } = job
  return [
    missedText(job.missed),
    overlapText(job.overlap),
    retryText(job.retry),
    timeout === null ? 'Takes as long as it takes.' : `Stopped after ${span(timeout)}.`,
    ...(late === null ? [] : [`Not started at all when later than ${span(late)}.`]),
    ...(job.jitter_seconds > 0 ? [`Spread over up to ${span(job.jitter_seconds)}.`] : []),
    ...(job.run_limit === null ? [] : [`Ends after ${plural(job.run_limit, 'run')}.`]),
    `Keeps ${plural(retention.attempts, 'run')} or ${span(retention.age_seconds)}, whichever is more.`,
  ]
}
