// `/api/v1/heartbeats`: the marks of many jobs at once.

import { listHeartbeats } from '../../use-cases/overview/overview.ts'
import { resource } from '../app/resource.ts'

export const heartbeatRoutes = resource('/api/v1/heartbeats', 'jobs', [
  ['GET', '', 'The newest decisions of several jobs at once', listHeartbeats],
])
