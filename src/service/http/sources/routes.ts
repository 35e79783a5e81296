// `/api/v1/sources`: declared sources and their rows.

import {
  createSource,
  editSource,
  getSource,
  listSources,
  removeSource,
  replaceSource,
} from '../../use-cases/sources/sources.ts'
import { resource } from '../app/resource.ts'

export const sourceRoutes = resource('/api/v1/sources', 'sources', [
  ['POST', '', 'Add a source; an active one is fetched at once', createSource],
  ['GET', '', 'The sources, the newest first', listSources],
  ['GET', '/:name', 'One source, with its last success and its retries', getSource],
  ['DELETE', '/:name', 'Remove a source in any state; its rows stay unless told', removeSource],
  ['PUT', '/:name', 'Replace a source; what is left out gets its default', replaceSource],
  ['PATCH', '/:name', 'Change what is given; lists are replaced as a whole', editSource],
])
