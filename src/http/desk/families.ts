// Which part of the API a path belongs to. The desk loads that part when it is first asked for, and
// none of the others with their schemas.

import type { Routes } from '../app/parts.ts'

export type LoadRoutes = () => Promise<Routes>

/**
 * By the word behind `/api/v1/`. What only browsers and workers ask for is not here: signing in, pages,
 * health, tasks with their leases, schedules and workflows as the originals have them.
 */
export const families: Readonly<Record<string, LoadRoutes>> = {
  activity: overview,
  attention: overview,
  audit: async () => (await import('../audit/routes.ts')).auditRoutes,
  bulk: async () => (await import('../bulk/routes.ts')).bulkRoutes,
  cron: async () => (await import('../cron/routes.ts')).cronRoutes,
  events: async () => (await import('../events/routes.ts')).eventRoutes,
  executions: async () => (await import('../executions/routes.ts')).executionRoutes,
  fairness: tenants,
  heartbeats: overview,
  jobs: async () => (await import('../jobs/routes.ts')).jobRoutes,
  reconcile: async () => (await import('../reconcile/routes.ts')).reconcileRoutes,
  runs: async () => (await import('../runs/routes.ts')).runRoutes,
  scheduler: async () => (await import('../scheduler/routes.ts')).schedulerRoutes,
  search: async () => (await import('../search/routes.ts')).searchRoutes,
  'source-limits': sources,
  sources,
  system: async () => (await import('../nodes/routes.ts')).nodeRoutes,
  tenants,
  timeline: async () => (await import('../timeline/routes.ts')).timelineRoutes,
  upcoming: async () => (await import('../ahead/routes.ts')).upcomingRoutes,
}

async function overview(): Promise<Routes> {
  return (await import('../overview/routes.ts')).overviewRoutes
}

async function sources(): Promise<Routes> {
  return (await import('../sources/routes.ts')).sourceRoutes
}

async function tenants(): Promise<Routes> {
  return (await import('../tenants/routes.ts')).tenantRoutes
}

/** Null for a path that no family has. */
export function familyOf(path: string): LoadRoutes | null {
  const word = /^\/api\/v1\/([a-z-]+)(?:\/|$)/.exec(path)?.[1]
  return word !== undefined && Object.hasOwn(families, word) ? families[word]! : null
}
