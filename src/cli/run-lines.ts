// One run in full, line by line: what it got, how it went and what came of it.

import type { RunDetail } from '../client/index.ts'
import type { Instant } from '../core/time.ts'
import { cut } from './screen.ts'
import { shortMoment, took } from './times.ts'

/** Of a payload or a result; `--json` has all of it. */
const WIDTH = 500

export type Line = readonly [name: string, text: string]

export function runLines(run: RunDetail, now: Instant, zone: string): Line[] {
  const at = (moment: string) => shortMoment(Date.parse(moment), now, zone)
  const limit = run.attempts_max === null ? '' : ` of at most ${run.attempts_max}`
  return [
    ['id', run.id],
    ['job', `${run.job_name}, tenant ${run.tenant}`],
    ['by', run.retry_of === null ? run.origin : `${run.origin} of ${run.retry_of}`],
    ['scheduled', at(run.scheduled_for)],
    ...optional('started', run.started_at, at),
    ...optional('finished', run.finished_at, at),
    ...optional('tried again', run.retry_at, at),
    ['took', took(run.duration_ms)],
    ['attempts', `${run.attempts}${limit}`],
    ...payloadLines(run),
    ...optional('reason', run.reason, text => text),
    ...optional('error', run.error_message, text => text),
    ['result', run.result_omitted ? 'not kept' : cut(JSON.stringify(run.result ?? null), WIDTH)],
  ]
}

function optional(name: string, value: string | null, text: (value: string) => string): Line[] {
  return value === null ? [] : [[name, text(value)]]
}

/** One line, or one for each payload if its job was edited between two attempts. */
function payloadLines(run: RunDetail): Line[] {
  if (run.payloads.length < 2) return [['payload', payloadText(run)]]
  return run.payloads.map(step => ['payload', `from attempt ${step.attempt}: ${payloadText(step)}`])
}

function payloadText(shown: RunDetail['payloads'][number] | RunDetail): string {
  const { payload, payload_of: of, payload_revision: revision } = shown
  const source = revision === null ? 'given to the run' : `revision ${revision} of the job`
  if (of === null) return revision === null ? 'not kept' : `no longer kept (${source})`
  return `${cut(JSON.stringify(payload ?? null), WIDTH)}  (${source})`
}
