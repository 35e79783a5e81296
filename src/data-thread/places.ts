// Pages and rows in SQLite files, written by a thread where there can be one.

import { SqlitePages, type SqlitePagesOptions } from '../actions/crawl/sqlite-pages.ts'
import type { PageSink } from '../actions/crawl/pages.ts'
import { SqliteTables, type SqliteTablesOptions } from '../sources/sqlite-tables.ts'
import type { SourceTables } from '../sources/tables.ts'
import { DataThread, ownEntry } from './thread.ts'

/** The first file of the thread; null for a process that has nothing to do meanwhile, such as a command. */
export type ThreadEntry = URL | null

/** Opened and searched by this thread: a search never waits for a write. */
export function openSqlitePages(
  options: SqlitePagesOptions,
  entry: ThreadEntry = ownEntry,
): PageSink {
  const pages = SqlitePages.open(options)
  const file = { kind: 'pages', path: options.path } as const
  if (entry === null || !DataThread.isPossible(file, entry)) return pages
  const thread = new DataThread(file, entry)
  return {
    put: async page => void (await thread.call({ call: 'put', page })),
    drop: async ({ tenant, jobId, url }) =>
      void (await thread.call({ call: 'drop', page: { tenant, jobId, url } })),
    retire: crawl => thread.call({ call: 'retire', crawl }),
    remove: async jobs => void (await thread.call({ call: 'remove', jobs })),
    search: query => pages.search(query),
    close: async () => {
      await thread.close()
      await pages.close()
    },
  }
}

export function openSqliteTables(
  options: SqliteTablesOptions,
  entry: ThreadEntry = ownEntry,
): SourceTables {
  const file = { kind: 'tables', path: options.path } as const
  if (entry === null || !DataThread.isPossible(file, entry)) return new SqliteTables(options)
  const thread = new DataThread(file, entry)
  return {
    write: ({ rows, ...page }) => thread.call({ call: 'write', page }, rows),
    removeRows: ({ tenant, table, source }) =>
      thread.call({ call: 'removeRows', from: { tenant, table, source } }),
    close: () => thread.close(),
  }
}
