// `/api/v1/workflows`: workflows and their runs.

import { getWorkflowRun, listWorkflowRuns, runWorkflow } from '../../use-cases/workflows/run.ts'
import {
  createWorkflow,
  editWorkflow,
  getWorkflow,
  listWorkflows,
  removeWorkflow,
} from '../../use-cases/workflows/workflows.ts'
import { resource } from '../app/resource.ts'

export const workflowRoutes = resource('/api/v1/workflows', 'workflows', [
  ['POST', '', 'Make a workflow; without an id it gets the next free one', createWorkflow],
  ['GET', '', 'The workflows, the highest id first', listWorkflows],
  ['GET', '/:id', 'One workflow; secrets of its calls are masked', getWorkflow],
  ['DELETE', '/:id', 'Remove a workflow; schedules of it fail and say so', removeWorkflow],
  ['PUT', '/:id', 'Change what is given; lists are replaced as a whole', editWorkflow],
  ['PATCH', '/:id', 'Change what is given; lists are replaced as a whole', editWorkflow],
  ['POST', '/:id/run', 'Run it once, now, beside its schedules', runWorkflow],
  [
    'GET',
    '/:id/runs',
    'Its runs with their steps, the newest first, whoever asked for them',
    listWorkflowRuns,
  ],
  [
    'GET',
    '/:id/runs/:run',
    'One run by its id or by its run_id: the newest attempt of it',
    getWorkflowRun,
  ],
])
