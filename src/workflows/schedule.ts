// Which jobs are workflow schedules: those made by `/api/v1/schedules` carry a label of their own.

import type { Job } from '../core/job.ts'

/** Begins as everything that belongs to the service, so that no program has it by accident. */
export const SCHEDULES_APP = 'carillon:schedules'

export function isWorkflowSchedule({ kind, declared }: Job): boolean {
  return kind === 'job' && declared?.app === SCHEDULES_APP
}
