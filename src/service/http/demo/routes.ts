// `/api/v1/demo`: jobs with a past to look at, loaded and removed as one.

import { describeDemo, loadDemoJobs, removeDemoJobs } from '../../use-cases/demo/demo.ts'
import { resource } from '../app/resource.ts'

export const demoRoutes = resource('/api/v1/demo', 'system', [
  ['GET', '', 'Whether the demo is loaded', describeDemo],
  ['POST', '', 'Load jobs of several tenants with a past; they call nobody', loadDemoJobs],
  ['DELETE', '', 'Remove what the demo brought, and nothing else', removeDemoJobs],
])
