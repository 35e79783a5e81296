// `/api/v1/executions`: one attempt by its id, and what it logged.

import { resource } from '../../http/app/resource.ts'
import { getExecution, readExecutionLog } from './execution.ts'

export const executionRoutes = resource('/api/v1/executions', 'executions', [
  ['GET', '/:id', 'One attempt of a run', getExecution],
  ['GET', '/:id/log', 'What the attempt logged, the oldest line first', readExecutionLog],
])
