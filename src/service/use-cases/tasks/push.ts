// Pushing tasks over HTTP: one, or up to a thousand in a body of 8 MiB.

import { z } from 'zod'
import { FAIR_TASK } from '../../../core/fairness/fair.ts'
import { limits } from '../../../core/limits.ts'
import type { Json } from '../../../core/json.ts'
import { specDefaults } from '../../../core/spec.ts'
import type { PushInput } from '../../../fair/spec.ts'
import { pushMany, pushOne, PUSH_MAX, type Pushed } from '../../../fair/tasks.ts'
import { Answer } from '../call/answer.ts'
import { useCase } from '../call/use-case.ts'
import { priority, priorityOf } from '../jobs/fields.ts'
import { moment, text } from '../jobs/texts.ts'
import { auditTasks, type TaskDeed } from './audit.ts'
import { tenantOf, tenantQuery } from '../call/tenant.ts'

const BATCH_BYTES_MAX = 8 * 1024 * 1024
/** Fields of its own for each task, and some of the payload's. */
const BATCH_KEYS_MAX = 100 * PUSH_MAX
const KEY_LENGTH_MAX = 200

const pushBody = z
  .strictObject({
    user_id: text(limits.nameLength).meta({ description: 'Whose turn it waits for.' }),
    payload: z.unknown().optional().meta({ description: 'At most 64 KiB.' }),
    priority: priority.optional(),
    queue: text(limits.nameLength).optional(),
    handler: text(limits.nameLength).optional().meta({ description: 'Default `task`.' }),
    key: text(KEY_LENGTH_MAX)
      .optional()
      .meta({ description: 'The same key makes the same task, however often it is pushed.' }),
    not_before: moment.optional(),
  })
  .meta({ id: 'TaskBody', description: 'A task to be done for a user.' })

type PushBody = z.output<typeof pushBody>

const pushedSchema = z
  .strictObject({
    id: z.string(),
    result: z
      .enum(['created', 'exists', 'full'])
      .meta({ description: 'exists: its key was pushed before. full: it was not taken.' }),
  })
  .meta({ id: 'PushedTask' })

const batchBody = z
  .strictObject({
    tasks: z
      .array(pushBody, { error: 'must be a list of tasks' })
      .min(1, 'must have at least one task')
      .max(PUSH_MAX, `must have at most ${PUSH_MAX} tasks`),
  })
  .meta({ id: 'TaskBatch' })

const batchAnswer = z.strictObject({ tasks: z.array(pushedSchema) }).meta({ id: 'PushedTasks' })

export const pushTask = useCase({
  access: 'operator',
  query: tenantQuery,
  body: pushBody,
  status: 201,
  otherStatuses: [200],
  result: pushedSchema,
  keeps: true,
  handle: async call => {
    const tenant = tenantOf(call)
    const input = inputOf(call.body)
    const pushed = await pushOne(call.engine, input, { tenant })
    await auditTasks(call, deedsOf('task.push', tenant, [[input, pushed]]))
    const status = pushed.result === 'created' ? 201 : 200
    return new Answer(status, bodyOf(pushed), { Location: `/api/v1/tasks/${pushed.id}` })
  },
})

export const pushTasks = useCase({
  access: 'operator',
  accepts: { bytes: BATCH_BYTES_MAX, keys: BATCH_KEYS_MAX },
  query: tenantQuery,
  body: batchBody,
  status: 201,
  result: batchAnswer,
  keeps: true,
  handle: async call => {
    const tenant = tenantOf(call)
    const inputs = call.body.tasks.map(inputOf)
    const pushed = await pushMany(call.engine, inputs, { tenant })
    const pairs = inputs.map((input, i) => [input, pushed[i]!] as const)
    await auditTasks(call, deedsOf('task.batch', tenant, pairs))
    return { tasks: pushed.map(bodyOf) }
  },
})

function inputOf(body: PushBody): PushInput {
  const { user_id, payload, not_before, queue, handler, key } = body
  return {
    userId: user_id,
    ...(payload === undefined ? {} : { payload: payload as Json }),
    ...(body.priority === undefined ? {} : { priority: priorityOf(body.priority) }),
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
    ...(key === undefined ? {} : { key }),
    ...(not_before === undefined ? {} : { notBefore: Date.parse(not_before) }),
  }
}

/** What was there already, or was not taken, changed nothing. */
function deedsOf(
  action: string,
  tenant: string,
  pairs: readonly (readonly [PushInput, Pushed])[],
): TaskDeed[] {
  return pairs
    .filter(([, { result }]) => result === 'created')
    .map(([{ handler = FAIR_TASK, queue = specDefaults.queue }]) => ({
      action,
      tenant,
      handler,
      queue,
    }))
}

function bodyOf({ id, result }: Pushed) {
  return { id, result }
}
