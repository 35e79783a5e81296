// The stores on which every rule of the API is shown: SQLite, and PostgreSQL where there is one.

import { openPostgres } from '../support/postgres.ts'
import { offeredServer } from '../support/servers/shared.ts'
import { openSqlite } from '../support/sqlite.ts'
import { startService, type Service, type ServiceOptions } from './service.ts'

export type Start = (options?: ServiceOptions) => Promise<Service>

const offer = await offeredServer('postgres')

const stores: readonly (readonly [name: string, start: Start])[] = [
  ['sqlite', options => startService({ open: openSqlite, ...options })],
  ...('missing' in offer
    ? []
    : [
        [
          'postgres',
          (options?: ServiceOptions) => startService({ open: openPostgres, ...options }),
        ] as const,
      ]),
]

/** One story, told on each store. */
export function onEachStore(body: (name: string, start: Start) => void): void {
  for (const [name, start] of stores) body(name, start)
}
