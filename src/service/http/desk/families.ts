// Which part of the API a path belongs to. The desk loads that part when it is first asked for, and
// none of the others with their schemas.

import type { Routes } from '../app/parts.ts'
import { controlRoutes } from '../../use-cases/jobs/control.ts'
import { insightRoutes } from '../../use-cases/jobs/insight.ts'
import { readRoutes } from '../../use-cases/jobs/read.ts'
import { searchRoutes } from '../search/routes.ts'

export type LoadRoutes = () => Promise<Routes>

/** What most commands ask for is here already; making and changing jobs brings many more schemas. */
export const jobFamilies = {
  read: async () => readRoutes,
  insight: async () => insightRoutes,
  control: async () => controlRoutes,
  backfill: async () => (await import('../../use-cases/jobs/backfill.ts')).backfillRoutes,
  write: async () => (await import('../../use-cases/jobs/write.ts')).writeRoutes,
} satisfies Record<string, LoadRoutes>

/**
 * The others, by the word behind `/api/v1/`. What only browsers and workers ask for is not here:
 * signing in, pages, health, tasks with their leases, schedules and workflows as the originals have.
 */
export const families: Readonly<Record<string, LoadRoutes>> = {
  activity: overview,
  attention: overview,
  audit: async () => (await import('../audit/routes.ts')).auditRoutes,
  bulk: async () => (await import('../bulk/routes.ts')).bulkRoutes,
  cron: async () => (await import('../cron/routes.ts')).cronRoutes,
  events: async () => (await import('../events/routes.ts')).eventRoutes,
  executions: async () => (await import('../../compat/executions/routes.ts')).executionRoutes,
  fairness: tenants,
  heartbeats: overview,
  reconcile: async () => (await import('../reconcile/routes.ts')).reconcileRoutes,
  runs: async () => (await import('../runs/routes.ts')).runRoutes,
  scheduler: async () => (await import('../../compat/crawl-jobs/routes.ts')).schedulerRoutes,
  search: async () => searchRoutes,
  sessions: tokens,
  'source-limits': sources,
  sources,
  system: async () => (await import('../system/routes.ts')).nodeRoutes,
  tenants,
  tokens,
  timeline: async () => (await import('../timeline/routes.ts')).timelineRoutes,
  upcoming: async () => (await import('../upcoming/routes.ts')).upcomingRoutes,
}

async function overview(): Promise<Routes> {
  return (await import('../attention/routes.ts')).overviewRoutes
}

async function sources(): Promise<Routes> {
  return (await import('../sources/routes.ts')).sourceRoutes
}

async function tokens(): Promise<Routes> {
  return (await import('../tokens/routes.ts')).tokenRoutes
}

async function tenants(): Promise<Routes> {
  return (await import('../tenants/routes.ts')).tenantRoutes
}

/** Null for a path that no family has. */
export function familyOf(method: string, path: string): LoadRoutes | null {
  const [, word, rest = ''] = /^\/api\/v1\/([a-z-]+)\/?(.*)$/.exec(path) ?? []
  if (word === 'jobs') return jobFamilyOf(method, rest.replace(/\/$/, ''))
  return word !== undefined && Object.hasOwn(families, word) ? families[word]! : null
}

function jobFamilyOf(method: string, rest: string): LoadRoutes {
  const isOfOne = rest.includes('/')
  if (method === 'GET') return isOfOne ? jobFamilies.insight : jobFamilies.read
  if (!isOfOne) return jobFamilies.write
  return rest.endsWith('/backfill') ? jobFamilies.backfill : jobFamilies.control
}
