// Every page in one table: its component, and its entry in the navigation when it has one. A new page
// is a path in `paths.ts` and a line here.

import type { AnyComponent } from 'preact'
import { lazy } from 'preact-iso'
import type { IconName } from './components/icon.tsx'
import type { PageName } from './paths.ts'

export interface PageEntry {
  readonly name: PageName
  readonly component: AnyComponent
  readonly nav?: {
    readonly label: string
    readonly icon: IconName
    /** Follows `g` on the keyboard. */
    readonly key: string
  }
}

/** In the order of matching and of the navigation: `/jobs/new` before `/jobs/:id`. */
export const pages: readonly PageEntry[] = [
  {
    name: 'overview',
    component: lazy(() => import('./pages/overview/overview.tsx').then(page => page.Overview)),
    nav: { label: 'Overview', icon: 'overview', key: 'o' },
  },
  {
    name: 'jobs',
    component: lazy(() => import('./pages/jobs/jobs.tsx').then(page => page.Jobs)),
    nav: { label: 'Jobs', icon: 'jobs', key: 'j' },
  },
  {
    name: 'newJob',
    component: lazy(() => import('./pages/job-form/job-form.tsx').then(page => page.NewJob)),
  },
  {
    name: 'job',
    component: lazy(() => import('./pages/job/job.tsx').then(page => page.Job)),
  },
  {
    name: 'editJob',
    component: lazy(() => import('./pages/job-form/job-form.tsx').then(page => page.EditJob)),
  },
  {
    name: 'runs',
    component: lazy(() => import('./pages/runs/runs.tsx').then(page => page.Runs)),
    nav: { label: 'Runs', icon: 'runs', key: 'r' },
  },
  {
    name: 'run',
    component: lazy(() => import('./pages/run/run.tsx').then(page => page.RunPage)),
  },
  {
    name: 'timeline',
    component: lazy(() => import('./pages/timeline/timeline.tsx').then(page => page.TimelinePage)),
    nav: { label: 'Timeline', icon: 'timeline', key: 't' },
  },
  {
    name: 'workflows',
    component: lazy(() => import('./pages/workflows/workflows.tsx').then(page => page.Workflows)),
    nav: { label: 'Workflows', icon: 'workflows', key: 'w' },
  },
  {
    name: 'newWorkflow',
    component: lazy(() =>
      import('./pages/workflow-form/workflow-form.tsx').then(page => page.NewWorkflow),
    ),
  },
  {
    name: 'workflow',
    component: lazy(() => import('./pages/workflows/workflow.tsx').then(page => page.WorkflowPage)),
  },
  {
    name: 'editWorkflow',
    component: lazy(() =>
      import('./pages/workflow-form/workflow-form.tsx').then(page => page.EditWorkflow),
    ),
  },
  {
    name: 'sources',
    component: lazy(() => import('./pages/sources/sources.tsx').then(page => page.Sources)),
    nav: { label: 'Sources', icon: 'sources', key: 'u' },
  },
  {
    name: 'newSource',
    component: lazy(() =>
      import('./pages/source-form/source-form.tsx').then(page => page.NewSource),
    ),
  },
  {
    name: 'source',
    component: lazy(() => import('./pages/sources/source.tsx').then(page => page.SourcePage)),
  },
  {
    name: 'editSource',
    component: lazy(() =>
      import('./pages/source-form/source-form.tsx').then(page => page.EditSource),
    ),
  },
  {
    name: 'tenants',
    component: lazy(() => import('./pages/tenants/tenants.tsx').then(page => page.Tenants)),
    nav: { label: 'Tenants', icon: 'tenants', key: 'n' },
  },
  {
    name: 'cron',
    component: lazy(() => import('./pages/cron/cron.tsx').then(page => page.CronLab)),
    nav: { label: 'Cron lab', icon: 'cron', key: 'c' },
  },
  {
    name: 'system',
    component: lazy(() => import('./pages/system/system.tsx').then(page => page.SystemPage)),
    nav: { label: 'System', icon: 'system', key: 's' },
  },
  {
    name: 'audit',
    component: lazy(() => import('./pages/audit/audit.tsx').then(page => page.Audit)),
    nav: { label: 'Audit', icon: 'audit', key: 'a' },
  },
]
