// The stores on which every rule of the API is shown: SQLite and PostgreSQL.

import { openPostgres } from '../support/postgres.ts'
import { openSqlite } from '../support/sqlite.ts'
import { startService, type Service, type ServiceOptions } from './service.ts'

export type Start = (options?: ServiceOptions) => Promise<Service>

const stores: readonly (readonly [name: string, start: Start])[] = [
  ['sqlite', options => startService({ open: openSqlite, ...options })],
  ['postgres', options => startService({ open: openPostgres, ...options })],
]

/** One story, told on each store. */
export function onEachStore(body: (name: string, start: Start) => void): void {
  for (const [name, start] of stores) body(name, start)
}
