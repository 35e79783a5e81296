// Numbers for workflows: one counter per tenant, so that no number is ever given out twice.

import { SchedulerError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Store } from '../store/port.ts'

const KIND = 'workflow-numbers'
/** Rounds against other writers; in each of them somebody got a number. */
const ROUNDS_MAX = 1_000

export interface NumberParts {
  readonly store: Store
  readonly clock: Clock
}

/** The next free number of the tenant. */
export function nextNumber(parts: NumberParts, tenant: string): Promise<number> {
  return moved(parts, tenant, last => last + 1)
}

/** Numbers up to this one are not given out any more: its owner chose it. */
export async function passNumber(parts: NumberParts, tenant: string, n: number): Promise<void> {
  await moved(parts, tenant, last => Math.max(last, n))
}

async function moved(
  { store, clock }: NumberParts,
  tenant: string,
  move: (last: number) => number,
): Promise<number> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const now = clock.now()
    const [held] = await store.getRecords(KIND, [tenant], now)
    const last = lastOf(held?.value ?? null)
    const next = move(last)
    if (next === last) return next
    const expectedVersion = held?.version ?? 0
    const write = { kind: KIND, key: tenant, value: { last: next }, expectedVersion }
    const [result] = await store.putRecords([{ ...write, expireAt: null }], now)
    if (result === 'put') return next
  }
  throw new SchedulerError('REVISION_CONFLICT', 'too many workflows are being made at once')
}

function lastOf(value: Json): number {
  if (typeof value !== 'object' || value === null || !('last' in value)) return 0
  return typeof value.last === 'number' ? value.last : 0
}
