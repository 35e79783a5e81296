// Jobs as programs read them: in the form they were made in. People are shown both forms alike.

import { inOwnForm as jobInOwnForm } from '../client/forms.ts'
import type { Job } from '../client/index.ts'

export function inOwnForm(resource: unknown): unknown {
  if (Array.isArray(resource)) return resource.map(inOwnForm)
  if (typeof resource !== 'object' || resource === null) return resource
  if ('jobs' in resource && Array.isArray(resource.jobs)) {
    return { ...resource, jobs: resource.jobs.map(inOwnForm) }
  }
  return isJob(resource) ? jobInOwnForm(resource) : resource
}

function isJob(resource: object): resource is Job {
  return 'kind' in resource && resource.kind === 'job' && 'form' in resource
}
