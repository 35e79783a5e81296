// How many leases of dead holders were cleared, counted by tenant and kept in the store.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Page } from '../../store/store.ts'
import type { StoredRecord } from '../../core/record.ts'

const KIND = 'reaped'
/** Rounds against other nodes that count at the same moment. */
const ROUNDS_MAX = 20

/** Listens from now on; returns what stops it. Nobody waits for the count. */
export function countReaped(engine: Engine): () => void {
  let last: Promise<void> = Promise.resolve()
  return engine.events.on('reaped', ({ jobs }) => {
    const add = () => addAll(engine, jobs)
    last = last.then(add, add).catch((error: unknown) => {
      engine.events.emit('error', { kind: 'store', error, during: 'count of cleared leases' })
    })
  })
}

async function addAll(engine: Engine, jobs: readonly Job[]): Promise<void> {
  const byTenant = new Map<string, number>()
  for (const { spec } of jobs) byTenant.set(spec.tenant, (byTenant.get(spec.tenant) ?? 0) + 1)
  for (const [tenant, count] of byTenant) await addReaped(engine, tenant, count)
}

export async function addReaped(engine: Engine, tenant: string, count: number): Promise<void> {
  const { store, clock } = engine
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

export async function readReaped(
  { store, clock }: Engine,
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
