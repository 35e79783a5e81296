// Stores to copy between, each fresh and removed when its test ends.

import { onTestFinished } from 'vitest'
import type { Instant } from '../../src/core/time.ts'
import type { CopyEnd } from '../../src/copy/copy.ts'
import { openPostgres } from '../support/postgres.ts'
import { openRedis } from '../support/redis.ts'
import { offeredServer } from '../support/servers/shared.ts'
import { openSqlite } from '../support/sqlite.ts'
import { openMemory, type OpenStore } from '../support/stores.ts'

const offers = [await offeredServer('postgres'), await offeredServer('redis')]

/** Why copies over real servers cannot be tested here; in CI a missing one is an error before. */
export const serversMissing = offers.find(offer => 'missing' in offer)?.missing ?? null

const openers = {
  memory: openMemory,
  sqlite: openSqlite,
  postgres: openPostgres,
  redis: openRedis,
} as const satisfies Record<string, OpenStore>

export type StoreName = keyof typeof openers

let made = 0

export async function place(kind: StoreName, clock: () => Instant): Promise<CopyEnd> {
  const opened = await openers[kind](clock)
  onTestFinished(() => opened.close())
  return { store: opened.store, name: `${kind} ${++made}` }
}
