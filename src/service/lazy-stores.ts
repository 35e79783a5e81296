// Places for pages and rows that are opened when something is first asked of them: most commands ask
// for nothing there.

import type { ServeConfig } from './config/config.ts'
import { openPlaces, type Places } from './parts.ts'

export function latePlaces(config: ServeConfig): Places {
  let opening: Promise<Places> | null = null
  const open = () => (opening ??= openPlaces(config, { byThread: false }))
  return {
    pages: {
      put: async page => (await open()).pages.put(page),
      drop: async page => (await open()).pages.drop(page),
      retire: async crawl => (await open()).pages.retire(crawl),
      remove: async jobs => (await open()).pages.remove(jobs),
      search: async query => (await open()).pages.search(query),
      close: async () => (await opening)?.pages.close(),
    },
    tables: {
      write: async page => (await open()).tables.write(page),
      removeRows: async from => (await open()).tables.removeRows(from),
      close: async () => (await opening)?.tables.close(),
    },
  }
}
