// Which jobs are workflow schedules: those made here carry a label that the stores can filter by.

import type { Declared, Job } from '../../../core/job.ts'
import { maySee } from '../../auth/principal.ts'
import { noJob } from '../../use-cases/jobs/scope.ts'
import { isWorkflowSchedule, SCHEDULES_APP } from '../../../workflows/schedule.ts'
import type { Call } from '../../use-cases/call/call.ts'

/** Added by a call, so that reconciling declarations leaves it alone. */
export function labelOf(workflowId: number, key: string): Declared {
  const definition = definitionOf(workflowId)
  return { app: SCHEDULES_APP, definition, key, generation: '', source: 'runtime' }
}

export function definitionOf(workflowId: number): string {
  return `workflow-${workflowId}`
}

/** Throws, in the same words, for what is unknown, foreign or no schedule. */
export function assertSchedule({ caller }: Call, job: Job): void {
  if (!isWorkflowSchedule(job) || !maySee(caller, job.spec.tenant)) throw noJob(job.id)
}

export async function visibleSchedule(call: Call, id: string): Promise<Job> {
  const job = await call.engine.client.get(id)
  assertSchedule(call, job)
  return job
}
