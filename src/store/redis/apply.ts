// Bundles: one script, which looks at everything before it writes anything.

import {
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/bundle.ts'
import type { InsertOptions } from '../store.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { changeArgs } from './change.ts'
import { coldText } from './cold.ts'
import { jobArgs } from './insert.ts'
import { recordArgs } from './records.ts'
import { CHANGE, EXISTS, FULL, INSERT, RECORD, REFUSED, REMOVE } from './scripts/apply.ts'
import { CONFLICT, MISSING } from './scripts/commit.ts'
import type { Shelf } from './shelf.ts'

const reasons: Readonly<Record<number, Refusal['reason']>> = {
  [CONFLICT]: 'conflict',
  [MISSING]: 'missing',
  [EXISTS]: 'exists',
}

export async function apply(
  shelf: Shelf,
  bundle: Bundle,
  options: InsertOptions,
): Promise<Refusal[]> {
  const faults = faultsOf(bundle)
  if (faults.length > 0) return faults
  const { removes, changes, inserts } = bundle
  const { now, waitingMax, records = [] } = options
  const args = [shelf.sender, String(now), String(waitingMax ?? ''), ...recordArgs(records)]
  args.push(String(removes.length))
  for (const { id, expectedVersion } of removes) args.push(toKey(id), String(expectedVersion))
  args.push(String(changes.length))
  for (const change of changes) args.push(...changeArgs(change, now))
  args.push(String(inserts.length))
  for (const job of inserts) args.push(...jobArgs(job, coldText(job), now))
  const [kind, ...rest] = (await shelf.run('apply', args)) as [number, ...(number | string)[]]
  // A spec may be another one now.
  for (const { job } of changes) shelf.known.delete(job.id)
  if (kind === REFUSED) return refusalsOf(bundle, rest as number[])
  const full = new Set(kind === FULL ? (rest as string[]).map(fromKey) : [])
  return fullRefusals(bundle, queue => full.has(queue))
}

function refusalsOf(bundle: Bundle, told: readonly number[]): Refusal[] {
  const refusals: Refusal[] = []
  for (let i = 0; i < told.length; i += 3) {
    refusals.push(refusalOf(bundle, { part: told[i]!, at: told[i + 1]! - 1, code: told[i + 2]! }))
  }
  return refusals
}

interface Told {
  readonly part: number
  readonly at: number
  readonly code: number
}

function refusalOf({ inserts, changes, removes }: Bundle, { part, at, code }: Told): Refusal {
  const reason = reasons[code]!
  switch (part) {
    case INSERT:
      return { part: 'insert', id: inserts[at]!.id, reason }
    case CHANGE:
      return { part: 'change', id: changes[at]!.job.id, reason }
    case REMOVE:
      return { part: 'remove', id: removes[at]!.id, reason }
    case RECORD:
      return recordsRefused
    default:
      throw new Error(`the apply script answered with part ${part}`)
  }
}
