// `/api/v1/schedules`: workflows that are run again and again, as system A has them.

import { resource } from '../../http/app/resource.ts'
import { pauseSchedule, resumeSchedule } from './control.ts'
import { getScheduleRun, listScheduleRuns } from './runs.ts'
import {
  createSchedule,
  editSchedule,
  getSchedule,
  listSchedules,
  removeSchedule,
  removeSchedules,
} from './schedule.ts'

export const scheduleRoutes = resource('/api/v1/schedules', 'schedules', [
  [
    'POST',
    '',
    'Run a workflow at an interval; the first run comes one interval from now',
    createSchedule,
  ],
  ['GET', '', 'The schedules, the newest first', listSchedules],
  ['GET', '/:id', 'One schedule', getSchedule],
  ['PATCH', '/:id', 'Change what is given; another interval counts from now', editSchedule],
  ['DELETE', '/:id', 'Remove a schedule in any state, with its runs', removeSchedule],
  ['POST', '/batch-delete', 'Remove many at once; ids of nothing are passed over', removeSchedules],
  ['POST', '/:id/pause', 'Nothing starts any more; a run under way may finish', pauseSchedule],
  [
    'POST',
    '/:id/resume',
    'Go on one interval from now, with the same repeat and retry',
    resumeSchedule,
  ],
  [
    'GET',
    '/:id/runs',
    'The runs of a schedule with their steps, the newest first',
    listScheduleRuns,
  ],
  ['GET', '/:id/runs/:run', 'One run by its id, such as sched-{job}-n0-rc0', getScheduleRun],
])
