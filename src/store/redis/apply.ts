// Bundles: one script, which checks everything before it writes anything.

import {
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/stored/bundle.ts'
import type { InsertOptions } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { recordArgs } from './records.ts'
import { jobArgs } from './row.ts'
import type { RedisSession } from './session.ts'
import { changesArgs } from './settle.ts'

/** Codes of `apply.lua`. */
const REFUSED = 1
const FULL_QUEUES = 2
const [INSERT, CHANGE, REMOVE] = [0, 1, 2]
const reasons: Readonly<Record<number, Refusal['reason']>> = {
  1: 'conflict',
  2: 'missing',
  4: 'exists',
}

export async function apply(
  session: RedisSession,
  bundle: Bundle,
  options: InsertOptions,
): Promise<Refusal[]> {
  const faults = faultsOf(bundle)
  if (faults.length > 0) return faults
  const { removes, changes, inserts } = bundle
  const { now, waitingMax, records = [] } = options
  const [kind, ...rest] = (await session.run('apply', [
    session.sender,
    String(now),
    String(waitingMax ?? ''),
    ...recordArgs(records),
    String(removes.length),
    ...removes.flatMap(({ id, expectedVersion }) => [toKey(id), String(expectedVersion)]),
    ...changesArgs(changes),
    String(inserts.length),
    ...inserts.flatMap(jobArgs),
  ])) as [number, ...(number | string)[]]
  if (kind === REFUSED) return refusalsOf(bundle, rest as number[])
  const full = new Set(kind === FULL_QUEUES ? (rest as string[]).map(fromKey) : [])
  return fullRefusals(bundle, queue => full.has(queue))
}

function refusalsOf({ inserts, changes, removes }: Bundle, codes: readonly number[]): Refusal[] {
  const refusals: Refusal[] = []
  for (let i = 0; i < codes.length; i += 3) {
    const at = codes[i + 1]! - 1
    const reason = reasons[codes[i + 2]!]!
    const part = codes[i]
    if (part === INSERT) refusals.push({ part: 'insert', id: inserts[at]!.id, reason })
    else if (part === CHANGE) refusals.push({ part: 'change', id: changes[at]!.job.id, reason })
    else if (part === REMOVE) refusals.push({ part: 'remove', id: removes[at]!.id, reason })
    else refusals.push(recordsRefused)
  }
  return refusals
}
