// Bundles: the usual writes one after another in one transaction, taken back if any was refused.

import {
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/bundle.ts'
import type { Removal } from '../../core/change.ts'
import type { InsertOptions } from '../store.ts'
import { toKey } from '../shared/text.ts'
import { commit } from './commit.ts'
import { insertAll } from './insert.ts'
import { putRecord, recordFits } from './records.ts'
import { removeOne } from './remove.ts'
import type { Tables } from './tables.ts'

/** Thrown inside the transaction, so that it ends as if it had never begun. */
class Refused extends Error {
  readonly refusals: Refusal[]

  constructor(refusals: Refusal[]) {
    super('refused')
    this.refusals = refusals
  }
}

export function apply(tables: Tables, bundle: Bundle, options: InsertOptions): Refusal[] {
  const faults = faultsOf(bundle)
  if (faults.length > 0) return faults
  try {
    tables.write(() => {
      const refusals = written(tables, bundle, options)
      if (refusals.length > 0) throw new Refused(refusals)
    })
    return []
  } catch (error) {
    if (error instanceof Refused) return error.refusals
    throw error
  }
}

function written(tables: Tables, bundle: Bundle, options: InsertOptions): Refusal[] {
  const { now, waitingMax = null, records = [] } = options
  const fits = records.every(write => recordFits(tables, write, now))
  const removes = bundle.removes.flatMap(one => removed(tables, one))
  const changes = commit(tables, bundle.changes, { now }).flatMap((reason, i): Refusal[] => {
    const { id } = bundle.changes[i]!.job
    return reason === 'committed' ? [] : [{ part: 'change', id, reason }]
  })
  const inserts = insertAll(tables, bundle.inserts, now).flatMap((reason, i): Refusal[] => {
    const { id } = bundle.inserts[i]!
    return reason === 'inserted' ? [] : [{ part: 'insert', id, reason }]
  })
  const found = [...removes, ...changes, ...inserts, ...(fits ? [] : [recordsRefused])]
  if (found.length > 0) return found
  for (const write of records) putRecord(tables, write, now)
  if (waitingMax === null) return []
  return fullRefusals(bundle, queue => tables.tallies.waiting(queue) > waitingMax)
}

function removed(tables: Tables, { id, expectedVersion }: Removal): Refusal[] {
  const row = tables.statement('select version from jobs where id = ?').get(toKey(id))
  if (row?.[0] !== expectedVersion) {
    return [{ part: 'remove', id, reason: row ? 'conflict' : 'missing' }]
  }
  removeOne(tables, id)
  return []
}
