// `/api/v1/attention`: what a person should look at.

import { listFindings } from '../../use-cases/overview/overview.ts'
import { resource } from '../app/resource.ts'

export const attentionRoutes = resource('/api/v1/attention', 'system', [
  ['GET', '', 'What a person should look at', listFindings],
])
