// What may be asked of many at once: a verb, and either ids or a filter with the number expected.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'
import { withCheck } from '../call/input.ts'
import { tenantPattern } from '../../auth/principal.ts'
import { moment, text } from '../jobs/texts.ts'
import { qualifierFields } from '../jobs/qualifiers.ts'
import { statuses } from '../jobs/view.ts'

export const IDS_MAX = 1_000
export const MATCHED_MAX = 10_000

export const verbs = ['pause', 'resume', 'cancel', 'retry', 'run', 'delete'] as const
export type BulkVerb = (typeof verbs)[number]
const runVerbs: readonly unknown[] = ['cancel', 'retry']

const filter = z
  .strictObject({
    status: z.array(z.enum(statuses)).min(1).max(statuses.length),
    queue: text(limits.nameLength),
    handler: text(limits.nameLength),
    search: text(limits.nameLength),
    tenant: z.string().regex(tenantPattern, 'must be the name of a tenant'),
    ...qualifierFields,
  })
  .partial()

const fields = z
  .strictObject({
    action: z.enum(verbs),
    on: z.enum(['jobs', 'runs']).default('jobs'),
    ids: z
      .array(text(limits.idLength + 20))
      .min(1)
      .max(IDS_MAX)
      .optional(),
    filter: filter.optional().meta({ description: 'Of jobs; all of it must hold.' }),
    expect: z
      .int()
      .min(0)
      .max(MATCHED_MAX)
      .optional()
      .meta({ description: 'How many the filter is believed to match; otherwise 409.' }),
    note: text(limits.noteLength).optional().meta({ description: 'Why they are paused.' }),
    until: moment.optional().meta({ description: 'When a pause ends by itself.' }),
    reason: text(limits.noteLength).optional().meta({ description: 'Why they are cancelled.' }),
    payload: z.unknown().optional().meta({ description: 'Of each run that is asked for.' }),
  })
  .meta({ id: 'BulkBody' })

export type BulkBody = z.output<typeof fields>

/** Which of the fields make no sense with which verb. */
const only: readonly (readonly [field: string, verb: BulkVerb])[] = [
  ['note', 'pause'],
  ['until', 'pause'],
  ['reason', 'cancel'],
  ['payload', 'run'],
]

export const bulkBody = withCheck(fields, given => {
  const problems: Problem[] = []
  const add = (field: string, rule: string) =>
    problems.push({ field, value: given[field] ?? null, rule })
  const hasIds = given.ids !== undefined
  if (hasIds === (given.filter !== undefined)) add('ids', 'is needed, or a filter, but not both')
  if (given.filter !== undefined && given.expect === undefined) {
    add('expect', 'is needed with a filter')
  }
  if (given.on === 'runs') {
    if (!hasIds) add('filter', 'is for jobs: runs are named by their ids')
    if (!runVerbs.includes(given.action)) add('action', 'must be cancel or retry for runs')
  }
  for (const [field, verb] of only) {
    if (given[field] !== undefined && given.action !== verb) add(field, `is only for ${verb}`)
  }
  return problems
})
