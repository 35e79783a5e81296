// `/api/v1/tasks`: work pushed by anyone, done by workers anywhere.

import { claimTasks, remoteClaims } from '../../use-cases/tasks/claim.ts'
import { cancelTask, getTask, listTasks } from '../../use-cases/tasks/list.ts'
import { pushTask, pushTasks } from '../../use-cases/tasks/push.ts'
import { completeTask, failTask, keepTask, releaseTask } from '../../use-cases/tasks/report.ts'
import type { Routes } from '../app/parts.ts'
import { resource } from '../app/resource.ts'

export const taskRoutes: Routes = (app, parts) => {
  app.addHook('preClose', async () => remoteClaims.drop(parts.engine)?.stop())
  routes(app, parts)
}

const routes = resource('/api/v1/tasks', 'tasks', [
  ['POST', '', 'Push a task for a user; 200 when its key was pushed before', pushTask],
  [
    'POST',
    '/batch',
    'Push many tasks at once; nothing is pushed if any of them is not valid',
    pushTasks,
  ],
  [
    'POST',
    '/claim',
    'Take due tasks under a lease; waits for some when there are none',
    claimTasks,
  ],
  ['POST', '/:id/heartbeat', 'Keep a task, and say how far it is', keepTask],
  ['POST', '/:id/complete', 'A task is done', completeTask],
  [
    'POST',
    '/:id/fail',
    'A task failed: it is tried again unless told, or tried too often',
    failTask,
  ],
  ['POST', '/:id/release', 'Give a task back unfinished: it is due again at once', releaseTask],
  ['GET', '', 'Tasks, the newest first; ended ones are kept for a day', listTasks],
  ['GET', '/:id', 'One task', getTask],
  [
    'POST',
    '/:id/cancel',
    'End a task; whoever works at it is told at the next heartbeat',
    cancelTask,
  ],
])
