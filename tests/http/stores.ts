// The stores on which the rules of the API are shown: SQLite and PostgreSQL, and for the original
// documents and what runs were given Redis too.

import { openPostgres } from '../support/postgres.ts'
import { openRedis } from '../support/redis.ts'
import { openSqlite } from '../support/sqlite.ts'
import { startService, type Service, type ServiceOptions } from './service.ts'

export type Start = (options?: ServiceOptions) => Promise<Service>
type Story = (name: string, start: Start) => void

const stores: readonly (readonly [name: string, start: Start])[] = [
  ['sqlite', options => startService({ open: openSqlite, ...options })],
  ['postgres', options => startService({ open: openPostgres, ...options })],
]
const startRedis: Start = options => startService({ open: openRedis, ...options })

/** One story, told on each store. */
export function onEachStore(body: Story): void {
  for (const [name, start] of stores) body(name, start)
}

export function onThreeStores(body: Story): void {
  onEachStore(body)
  body('redis', startRedis)
}
