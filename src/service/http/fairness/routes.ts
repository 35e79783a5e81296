// `/api/v1/fairness`: what each tenant wanted, what it got and how long it waited.

import { measureFairness } from '../../use-cases/tenants/fairness.ts'
import { resource } from '../app/resource.ts'

export const fairnessRoutes = resource('/api/v1/fairness', 'system', [
  ['GET', '', 'What each tenant wanted and got, and how long it waited', measureFairness],
])
