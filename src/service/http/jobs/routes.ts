// `/api/v1/jobs`: every route of a job and of all of them.

import { turnCronIntoIntervals } from '../../compat/crawl-jobs/turn-cron.ts'
import { backfillJob } from '../../use-cases/jobs/backfill.ts'
import {
  cancelJob,
  pauseJob,
  resumeJob,
  retryJob,
  runJob,
  unlockJob,
} from '../../use-cases/jobs/control.ts'
import {
  explainJob,
  getJobHeartbeat,
  getJobLateness,
  getJobStats,
  listJobExecutions,
  listJobUpcoming,
} from '../../use-cases/jobs/insight.ts'
import { getJob, listJobs } from '../../use-cases/jobs/read.ts'
import { createJob, editJob, removeJob } from '../../use-cases/jobs/write.ts'
import { resource } from '../app/resource.ts'

export const jobRoutes = resource('/api/v1/jobs', 'jobs', [
  ['GET', '', 'The jobs, the newest first', listJobs],
  ['GET', '/:id', 'One job', getJob],
  ['POST', '', 'Make a job', createJob],
  ['DELETE', '/:id', 'Remove a job in any state, with its executions', removeJob],
  ['PUT', '/:id', 'Change what is given; everything else stays', editJob],
  ['PATCH', '/:id', 'Change what is given; everything else stays', editJob],
  [
    'POST',
    '/from-cron',
    'Turn cron times into intervals where they mean the same',
    turnCronIntoIntervals,
  ],
  ['POST', '/:id/pause', 'Stop a scheduled job from firing', pauseJob],
  ['POST', '/:id/resume', 'Let a paused job fire again', resumeJob],
  ['POST', '/:id/cancel', 'End a job; a run under way is aborted', cancelJob],
  ['POST', '/:id/retry', 'Start a failed job over, at once', retryJob],
  ['POST', '/:id/run', 'Run once more beside the schedule, which does not move', runJob],
  [
    'POST',
    '/:id/unlock',
    'Clear the lock of a holder that is gone; what it still does is refused',
    unlockJob,
  ],
  [
    'POST',
    '/:id/backfill',
    'Run the past firings between two moments, one after the other',
    backfillJob,
  ],
  ['GET', '/:id/executions', 'Its executions, the newest first', listJobExecutions],
  ['GET', '/:id/stats', 'Its totals, pruned executions included', getJobStats],
  [
    'GET',
    '/:id/heartbeat',
    'One mark for each of its newest decisions, runs and skips',
    getJobHeartbeat,
  ],
  ['GET', '/:id/lateness', 'How late its runs started', getJobLateness],
  ['GET', '/:id/why', 'Why it runs when it does, or does not', explainJob],
  ['GET', '/:id/upcoming', 'The moments it will fire next', listJobUpcoming],
])
