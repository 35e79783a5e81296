// `/api/v1/source-limits`: how many requests sources may send to a domain.

import {
  getSourceLimit,
  listSourceLimits,
  removeSourceLimit,
  setSourceLimit,
} from '../../use-cases/sources/limits.ts'
import { resource } from '../app/resource.ts'

export const sourceLimitRoutes = resource('/api/v1/source-limits', 'sources', [
  ['GET', '', 'The rate limits of sources, by domain', listSourceLimits],
  ['GET', '/:domain', 'The rate limit of one domain', getSourceLimit],
  ['PUT', '/:domain', 'Set the rate limit of a domain and those below it', setSourceLimit],
  ['DELETE', '/:domain', 'Lift the rate limit of a domain', removeSourceLimit],
])
