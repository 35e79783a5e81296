// Bundles: the usual writes one after another in one transaction, which is taken back if any was
// refused.

import {
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/stored/bundle.ts'
import type { Removal } from '../../core/change.ts'
import type { InsertOptions } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { commitChange } from './commit.ts'
import type { Sql } from './dialect.ts'
import { insertJob } from './insert.ts'
import { rowOf, type Operation } from './operation.ts'
import { putRecord, recordsFit } from './records.ts'
import { removeFound } from './remove.ts'

/** Thrown inside the transaction, so that it ends as if it had never begun. */
export class Refused extends Error {
  readonly refusals: Refusal[]

  constructor(refusals: Refusal[]) {
    super('refused')
    this.refusals = refusals
  }
}

/** Throws Refused when anything is in its way. */
export function* apply(sql: Sql, bundle: Bundle, options: InsertOptions): Operation<void> {
  const faults = faultsOf(bundle)
  const refusals = faults.length > 0 ? faults : yield* writtenBut(sql, bundle, options)
  if (refusals.length > 0) throw new Refused(refusals)
}

function* writtenBut(sql: Sql, bundle: Bundle, options: InsertOptions): Operation<Refusal[]> {
  const { now, waitingMax = null, records = [] } = options
  const isFit = yield* recordsFit(sql, records, now)
  const found: Refusal[] = []
  for (const one of bundle.removes) found.push(...(yield* removed(sql, one)))
  for (const change of bundle.changes) {
    const reason = yield* commitChange(sql, change, { now })
    if (reason !== 'committed') found.push({ part: 'change', id: change.job.id, reason })
  }
  for (const job of bundle.inserts) {
    const isNew = yield* insertJob(sql, job, now)
    if (!isNew) found.push({ part: 'insert', id: job.id, reason: 'exists' })
  }
  if (!isFit) found.push(recordsRefused)
  if (found.length > 0) return found
  for (const write of records) yield* putRecord(write, now)
  return waitingMax === null ? [] : yield* refusedAsFull(sql, bundle, waitingMax)
}

function* refusedAsFull(sql: Sql, bundle: Bundle, waitingMax: number): Operation<Refusal[]> {
  const full = new Set<string>()
  const inserts = [...bundle.inserts, ...bundle.changes.flatMap(change => change.inserts)]
  for (const queue of new Set(inserts.map(({ spec }) => spec.queue))) {
    if ((yield* sql.counts.waiting(queue, waitingMax)) > waitingMax) full.add(queue)
  }
  return fullRefusals(bundle, queue => full.has(queue))
}

function* removed(sql: Sql, { id, expectedVersion }: Removal): Operation<Refusal[]> {
  const row = yield* rowOf<[number]>(
    `select s.version from jobs j join job_states s on s.seq = j.seq where j.id = ?
      ${sql.dialect.lockStates}`,
    toKey(id),
  )
  if (row?.[0] !== expectedVersion) {
    return [{ part: 'remove', id, reason: row ? 'conflict' : 'missing' }]
  }
  yield* removeFound(sql, [id])
  return []
}
