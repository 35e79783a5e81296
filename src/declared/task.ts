// A declared task as a job: one spec for all of them, and a name of its own for its handler.

import type { Declaration } from '../core/declared/reconcile.ts'
import { completeSpec, type JobSpec } from '../core/spec.ts'
import type { Context } from '../engine/context.ts'
import { errorInfo } from '../core/errors.ts'
import { runContext } from '../library/context.ts'
import type { Task } from './registration.ts'

/** Tasks have a line of their own, so a node that runs them looks at nothing else. */
export const TASK_QUEUE = 'tasks'

/** Who declares: kept apart from the jobs that `createScheduler` declares under the same label. */
export function ownerLabel(app: string): string {
  return `tasks/${encodeURIComponent(app)}`
}

/** The id of the job and the name of its handler: no other program's code has it. */
export function taskId(app: string, name: string): string {
  return `${ownerLabel(app)}/${name}`
}

export function declarationOf(task: Task, app: string): Declaration {
  return {
    id: taskId(app, task.name),
    spec: specOf(task, app),
    declared: { app: ownerLabel(app), definition: task.name, key: 'main', generation: '' },
  }
}

function specOf({ name, cron, retryDelayMs }: Task, app: string): JobSpec {
  const { expression, zone } = cron
  return completeSpec({
    name,
    handler: taskId(app, name),
    queue: TASK_QUEUE,
    trigger: { kind: 'cron', expression, zone, dialect: 'posix', dst: null },
    first: 'ifDue',
    missed: { policy: 'once' },
    overlap: { policy: 'queue', limit: 1 },
    retry: {
      limit: null,
      backoff: { kind: 'fixed', delayMs: retryDelayMs },
      resetAfterMs: null,
      exhausted: 'next',
      yields: true,
    },
    timeoutMs: null,
  })
}

/** Whatever is thrown is a failure like any other, and whatever is returned a success. */
export async function perform({ callback }: Task, context: Context): Promise<void> {
  try {
    await callback(runContext(context))
  } catch (thrown) {
    const { name, message, stack } = errorInfo(thrown)
    throw Object.assign(new Error(message), { name, stack: stack ?? undefined })
  }
}
