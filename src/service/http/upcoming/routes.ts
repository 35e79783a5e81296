// `/api/v1/upcoming`: what will fire in a window, of all jobs of the caller.

import { listUpcoming } from '../../use-cases/upcoming/upcoming.ts'
import { resource } from '../app/resource.ts'

export const upcomingRoutes = resource('/api/v1/upcoming', 'time', [
  ['GET', '', 'What will fire in a window, of all jobs, and when it gets crowded', listUpcoming],
])
