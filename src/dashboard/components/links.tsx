// Links to a job and to a run.

import { href } from '../href.ts'
import { paths, pathTo } from '../paths.ts'

export function JobLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <a class="job-link" href={href(pathTo('job', { id }))}>
      {name}
    </a>
  )
}

/** Where a run is shown; null while there is no page for runs. */
export function runHref(id: string): string | null {
  const pattern = Object.entries<string>(paths).find(([name]) => name === 'run')?.[1]
  return pattern === undefined ? null : href(pattern.replace(':id', encodeURIComponent(id)))
}
