// `/api/v1/search`: one word looked for everywhere.

import { search } from '../../use-cases/search/search.ts'
import { resource } from '../app/resource.ts'

export const searchRoutes = resource('/api/v1/search', 'system', [
  ['GET', '', 'Jobs by name or id, runs by id, crawled pages by their words, tenants', search],
])
