// What a body in the crawl form must hold (B2, B13), and what it must not hold beside the native form.

import type { Registry } from '../../../actions/registry.ts'
import type { Problem } from '../../../core/errors.ts'
import type { CrawlBody } from './spec.ts'

type Given = Readonly<Record<string, unknown>>

const scheduleFields = ['interval_minutes', 'interval_type', 'schedule_time', 'schedule_enabled']
const retryFields = ['max_retries', 'retry_backoff_seconds']

export const isGiven = (given: Given, field: string) => given[field] !== undefined

/** For new jobs: an address and a source, unless an action or a handler does the work. */
export function neededProblems(given: Given): Problem[] {
  const needs: Problem[] = []
  const doesWork = isGiven(given, 'action') || isGiven(given, 'handler')
  if (!isGiven(given, 'url') && !doesWork) {
    needs.push({ field: 'url', value: null, rule: 'is needed, or an action, or a handler' })
  }
  const isNamed = given.source_id != null || given.source_name != null
  if (!doesWork && !isNamed) {
    needs.push({ field: 'source_id', value: null, rule: 'is needed, or source_name' })
  }
  return needs
}

/** A crawl of an address this service may not reach is refused before it is stored. */
export function crawlProblems(given: Given, actions: Registry): Problem[] {
  const { url } = given
  if (typeof url !== 'string' || isGiven(given, 'action') || !URL.canParse(url)) return []
  if (!/^https?:$/.test(new URL(url).protocol)) return []
  return actions
    .check({ kind: 'crawl', url })
    .problems.map(problem => ({ ...problem, field: problem.field.replace('action.', '') }))
}

/** The two forms do not mix where they would contradict each other. */
export function clashes(given: Given): Problem[] {
  const problems: Problem[] = []
  const exclude = (field: string, others: readonly string[]) => {
    if (!isGiven(given, field)) return
    for (const other of others.filter(one => isGiven(given, one))) {
      problems.push({ field: other, value: given[other], rule: `cannot be given with ${field}` })
    }
  }
  exclude('trigger', scheduleFields)
  exclude('retry', retryFields)
  exclude('action', ['url', 'handler'])
  exclude('handler', ['url'])
  return problems
}

/** What a job that was made natively cannot be told in the crawl form. */
export function formProblems(
  body: CrawlBody & { readonly action?: unknown },
  view: { readonly form: string; readonly url: string | null },
): Problem[] {
  if (view.form === 'crawl') return []
  const rule = 'is of jobs made with it; give this one a name or tags'
  const sources = (['source_id', 'source_name'] as const)
    .filter(field => body[field] != null)
    .map(field => ({ field, value: body[field], rule }))
  const hasAddress = body.action !== undefined || view.url !== null
  if (body.url === undefined || hasAddress) return sources
  const rest = 'cannot be set: this job calls a handler or an action without an address'
  return [...sources, { field: 'url', value: body.url, rule: rest }]
}

/** The core's names of fields → those of the crawl form. */
export const crawlNames: readonly (readonly [core: string, wire: string])[] = [
  ['trigger.everyMs', 'interval_minutes'],
  ['trigger.expression', 'schedule_time'],
]
