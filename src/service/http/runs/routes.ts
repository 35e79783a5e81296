// `/api/v1/runs`: what became of every occurrence, across jobs, and runs asked for again.

import { cancelRun, replayRun, retryRun } from '../../use-cases/runs/act.ts'
import { readRunLog } from '../../use-cases/runs/log.ts'
import { getRun, listRuns } from '../../use-cases/runs/read.ts'
import { resource } from '../app/resource.ts'

export const runRoutes = resource('/api/v1/runs', 'runs', [
  ['GET', '', 'Runs of all jobs: running, queued, then the others, the newest first', listRuns],
  ['GET', '/:id', 'One run: its attempts, its payload and result, where its time went', getRun],
  ['GET', '/:id/log', 'What an attempt of the run logged, the oldest line first', readRunLog],
  ['POST', '/:id/cancel', 'End one run; the schedule goes on', cancelRun],
  ['POST', '/:id/retry', 'A new run of the same occurrence; the old one stays as it is', retryRun],
  [
    'POST',
    '/:id/replay',
    'A new run of its job with this payload, by default that of the run',
    replayRun,
  ],
])
