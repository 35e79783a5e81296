// Every page in one table: its component, and its entry in the navigation when it has one. A new page
// is a path in `paths.ts` and a line here.

import type { AnyComponent } from 'preact'
import { lazy } from 'preact-iso'
import type { IconName } from './parts/icon.tsx'
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
]
