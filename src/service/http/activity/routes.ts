// `/api/v1/activity`: the last hours in numbers.

import { getActivity } from '../../use-cases/overview/overview.ts'
import { resource } from '../app/resource.ts'

export const activityRoutes = resource('/api/v1/activity', 'system', [
  ['GET', '', 'How runs ended in the last hours, and how late they began', getActivity],
])
