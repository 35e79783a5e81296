// Pushing tasks: one or many, by whoever has work for a user. Pushes are traffic, not deeds of
// people, so they leave tasks and nothing else.

import { SchedulerError } from '../core/errors.ts'
import { FAIR_SCHEDULE, PUSHING } from '../core/fairness/fair.ts'
import { idOf } from '../jobs/identity.ts'
import type { Job } from '../core/job.ts'
import type { Context } from '../engine/context.ts'
import type { Engine } from '../create-engine.ts'
import type { InsertResult } from '../store/port.ts'
import { monitorOf } from './health.ts'
import { pushSpec, type Of, type PushInput } from './spec.ts'

/** Tasks pushed with one call. */
export const PUSH_MAX = 1_000

export interface Pushed {
  readonly id: string
  /** `exists`: its key was pushed before. `full`: the queue had no room, and it was not taken. */
  readonly result: Exclude<InsertResult, 'inserted' | 'conflict'> | 'created'
}

export async function pushMany(
  engine: Engine,
  inputs: readonly PushInput[],
  of: Of,
): Promise<Pushed[]> {
  const { client, ids, clock } = engine
  const now = clock.now()
  const tasks = inputs.map(input => ({
    id: input.key === undefined ? ids.next(now) : keyedId(of.tenant, input.key),
    kind: 'task' as const,
    spec: pushSpec(input, of, now),
  }))
  const made = await client.create(tasks).catch((error: unknown) => {
    if (isOfStore(error)) engine.events.emit('error', { kind: 'push', error, during: PUSHING })
    throw error
  })
  return made.map(({ job, result }) => ({
    id: job.id,
    result: result === 'inserted' || result === 'conflict' ? 'created' : result,
  }))
}

/** The caller is told of each; here they are only counted. */
function isOfStore(error: unknown): boolean {
  return error instanceof SchedulerError && error.code.startsWith('STORE_')
}

export async function pushOne(engine: Engine, input: PushInput, of: Of): Promise<Pushed> {
  const [pushed] = await pushMany(engine, [input], of)
  if (pushed!.result !== 'full') return pushed!
  throw new SchedulerError('QUEUE_FULL', `queue ${input.queue ?? 'default'} is full`)
}

/** Of its tenant alone, whatever the key is made of. */
function keyedId(tenant: string, key: string): string {
  return idOf([tenant, 'task', key], '!')
}

/**
 * Every node serves the schedules of the fair queue. Their firings become tasks without it; a past
 * one that someone asks for again comes here.
 */
export function serveSchedules(engine: Engine): void {
  monitorOf(engine)
  engine.handlers.set(FAIR_SCHEDULE, async (context: Context) => {
    const { job } = context
    const task = askedTask(job, context)
    await engine.client.create([task])
    return { task: task.id }
  })
}

function askedTask(job: Job, context: Context) {
  const { tenant, lane, priority, queue, metadata } = job.spec
  const spec = pushSpec({ userId: '', payload: context.payload, queue }, { tenant }, job.createdAt)
  const trigger = { kind: 'once', at: context.scheduledFor.getTime() } as const
  return {
    id: `${job.id}@${trigger.at}!${context.run}`,
    kind: 'task' as const,
    seriesId: job.id,
    spec: { ...spec, lane, priority, metadata, trigger },
  }
}
