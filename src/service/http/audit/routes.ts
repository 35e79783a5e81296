// `/api/v1/audit`: who did what and when.

import { listAudit } from '../../use-cases/audit/audit.ts'
import { resource } from '../app/resource.ts'

export const auditRoutes = resource('/api/v1/audit', 'system', [
  ['GET', '', 'Who did what, the newest first', listAudit],
])
