// The address of every page, by name: the service answers these with the document, and nothing else.
// A page is added here and in `pages.ts`.

export const paths = {
  overview: '/',
  jobs: '/jobs',
  newJob: '/jobs/new',
  job: '/jobs/:id',
  editJob: '/jobs/:id/edit',
  runs: '/runs',
  run: '/runs/:id',
  timeline: '/timeline',
  workflows: '/workflows',
  newWorkflow: '/workflows/new',
  workflow: '/workflows/:id',
  editWorkflow: '/workflows/:id/edit',
  sources: '/sources',
  // Not below `/sources`: there `new` may be the name of one.
  newSource: '/new-source',
  source: '/sources/:name',
  editSource: '/sources/:name/edit',
  tenants: '/tenants',
  cron: '/tools/cron',
  system: '/system',
  audit: '/audit',
} as const

export type PageName = keyof typeof paths

/** The path of a page with its parameters filled in. */
export function pathTo(name: PageName, params: Readonly<Record<string, string>> = {}): string {
  return paths[name].replaceAll(/:(\w+)/g, (_all, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  )
}
