// What a caller may say about a workflow schedule, and which fields are not theirs to set.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { workflowLimits } from '../../../workflows/workflow.ts'
import { withCheck } from '../../use-cases/call/input.ts'
import { whole } from '../../use-cases/jobs/fields.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import { readOnlyFields, type ScheduleView } from './view.ts'

const DESCRIPTION_LENGTH_MAX = 4_000
const BATCH_MAX = 1_000

const given = {
  name: text(limits.nameLength),
  description: z
    .string()
    .max(DESCRIPTION_LENGTH_MAX, `must have at most ${DESCRIPTION_LENGTH_MAX} characters`)
    .regex(/^(?:[^\p{Cc}]|[\n\r\t])*$/u, 'must have no control characters'),
  interval_seconds: whole(1, limits.everyMsMax / 1_000),
  total_repeats: whole(0, limits.runLimitMax).meta({ description: '0 for no limit.' }),
  max_retries: whole(0, limits.retryMax).meta({ description: 'Of each repeat.' }),
  timeout_seconds: whole(1, limits.timeoutMsMax / 1_000),
  trigger_node_id: text(workflowLimits.entryIdLength).nullable(),
  trigger_payload: z
    .record(z.string(), z.unknown(), { error: 'must be an object or null' })
    .nullable()
    .meta({ description: 'What the event of each run carries; at most 64 KiB.' }),
}

type ReadOnlyField = (typeof readOnlyFields)[number]

type Owned = Exclude<ReadOnlyField, 'workflow_id'>

/** The workflow is chosen when it is made, and never again. */
const owned = readOnlyFields.filter((field): field is Owned => field !== 'workflow_id')

function refusable<F extends ReadOnlyField>(fields: readonly F[]) {
  const entry = z.unknown().optional().meta({ readOnly: true, description: 'Not to be set.' })
  return Object.fromEntries(fields.map(field => [field, entry])) as Record<F, typeof entry>
}

const createFields = z
  .strictObject({
    name: given.name,
    workflow_id: whole(1, workflowLimits.idMax),
    trigger_node_id: given.trigger_node_id.default(null),
    interval_seconds: given.interval_seconds,
    description: given.description.default(''),
    total_repeats: given.total_repeats.default(0),
    max_retries: given.max_retries.default(3),
    timeout_seconds: given.timeout_seconds.default(600),
    trigger_payload: given.trigger_payload.default(null),
    ...refusable(owned),
  })
  .meta({ id: 'ScheduleBody', description: 'A new schedule of a workflow.' })

export const createBody = withCheck(createFields, body =>
  owned
    .filter(field => body[field] !== undefined)
    .map(field => ({ field, value: body[field], rule: 'is given by the service' })),
)

export type CreateBody = z.output<typeof createFields>

export const patchBody = z
  .strictObject(given)
  .partial()
  .extend(refusable(readOnlyFields))
  .meta({ id: 'SchedulePatch', description: 'What is left out stays as it is.' })

export type PatchBody = z.output<typeof patchBody>

/** Fields of the service that a caller sends back are ignored while they say what is so. */
export function readOnlyProblems(body: PatchBody, view: ScheduleView): Problem[] {
  return readOnlyFields
    .filter(field => body[field] !== undefined && !jsonEqual(body[field], view[field]))
    .map(field => ({ field, value: body[field], rule: 'cannot be set' }))
}

export const batchBody = z.strictObject({
  schedule_ids: z
    .array(z.string().max(limits.idLength), { error: 'must be a list of ids' })
    .max(BATCH_MAX, `must have at most ${BATCH_MAX} ids`),
})
