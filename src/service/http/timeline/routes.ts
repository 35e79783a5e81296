// `/api/v1/timeline`: past runs and coming starts between two moments, in rows.

import { readTimeline } from '../../use-cases/timeline/timeline.ts'
import { resource } from '../app/resource.ts'

export const timelineRoutes = resource('/api/v1/timeline', 'time', [
  [
    'GET',
    '',
    'Past runs and coming starts between two moments, a row for each job, tenant or node',
    readTimeline,
  ],
])
