// How many leases of dead holders were cleared, counted by tenant and kept in the store: by
// whichever node cleared them, with a service in front of it or not.

import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { StoredRecord } from '../core/record.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Events } from '../runtime/events.ts'
import type { Page, Store } from '../store/port.ts'

const KIND = 'reaped'
/** Rounds against other nodes that count at the same moment. */
const ROUNDS_MAX = 20

interface Counted {
  readonly store: Store
  readonly clock: Clock
}

interface CountParts extends Counted {
  readonly events: Events
}

/** A count that cannot be kept is told and left out: the leases are cleared either way. */
export async function countReaped(parts: CountParts, jobs: readonly Job[]): Promise<void> {
  const byTenant = new Map<string, number>()
  for (const { spec } of jobs) byTenant.set(spec.tenant, (byTenant.get(spec.tenant) ?? 0) + 1)
  try {
    for (const [tenant, count] of byTenant) await add(parts, tenant, count)
  } catch (error) {
    parts.events.emit('error', { kind: 'store', error, during: 'count of cleared leases' })
  }
}

async function add({ store, clock }: Counted, tenant: string, count: number): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const now = clock.now()
    const [held] = await store.getRecords(KIND, [tenant], now)
    const write = {
      kind: KIND,
      key: tenant,
      value: countOf(held) + count,
      expectedVersion: held?.version ?? 0,
      expireAt: null,
    }
    const [result] = await store.putRecords([write], now)
    if (result === 'put') return
  }
}

/** Of one tenant, or of all together. */
export async function readReaped(
  { store, clock }: Counted,
  { tenant }: { readonly tenant?: string },
): Promise<number> {
  const now = clock.now()
  if (tenant !== undefined) return countOf((await store.getRecords(KIND, [tenant], now))[0])
  let sum = 0
  let cursor: string | null = null
  do {
    const page: Page<StoredRecord> = await store.listRecords(
      KIND,
      { limit: limits.pageMax, cursor },
      now,
    )
    for (const record of page.items) sum += countOf(record)
    cursor = page.cursor
  } while (cursor !== null)
  return sum
}

function countOf(record: StoredRecord | undefined): number {
  return typeof record?.value === 'number' ? record.value : 0
}
