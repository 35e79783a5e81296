// Bundles in memory: everything is looked at before the first write.

import {
  bornIn,
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/stored/bundle.ts'
import type { Job } from '../../core/job.ts'
import type { InsertOptions } from '../port.ts'
import { putRecord, recordFits } from './records.ts'
import { removeJob, type Rows } from './rows.ts'
import { insert, refusalOf, writeChange } from './write.ts'

export function apply(rows: Rows, bundle: Bundle, options: InsertOptions): Refusal[] {
  const { now, records = [] } = options
  const faults = faultsOf(bundle)
  if (faults.length > 0) return faults
  const refusals = refusalsOf(rows, bundle, options)
  if (refusals.length > 0) return refusals
  for (const { id } of bundle.removes) removeJob(rows, id)
  for (const change of bundle.changes) writeChange(rows, change, now)
  for (const job of bundle.inserts) insert(rows, job, { now })
  for (const write of records) putRecord(rows, write, now)
  return []
}

function refusalsOf(rows: Rows, bundle: Bundle, options: InsertOptions): Refusal[] {
  const { now, records = [] } = options
  const removes = bundle.removes.flatMap(({ id, expectedVersion }): Refusal[] => {
    const held = rows.jobs.get(id)?.job
    if (held?.version === expectedVersion) return []
    return [{ part: 'remove', id, reason: held ? 'conflict' : 'missing' }]
  })
  const changes = bundle.changes.flatMap((change): Refusal[] => {
    const reason = refusalOf(rows, change, now)
    return reason === null ? [] : [{ part: 'change', id: change.job.id, reason }]
  })
  const inserts = bundle.inserts
    .filter(({ id }) => rows.jobs.has(id))
    .map(({ id }): Refusal => ({ part: 'insert', id, reason: 'exists' }))
  const fits = records.every(write => recordFits(rows, write, now))
  const found = [...removes, ...changes, ...inserts, ...(fits ? [] : [recordsRefused])]
  return found.length > 0 ? found : full(rows, bundle, options)
}

function full(rows: Rows, bundle: Bundle, { waitingMax = null }: InsertOptions): Refusal[] {
  if (waitingMax === null) return []
  const after = new Map<string, Job>()
  for (const { job } of rows.jobs.values()) after.set(job.id, job)
  for (const { id } of bundle.removes) after.delete(id)
  for (const { job } of bundle.changes) after.set(job.id, job)
  for (const job of bornIn(bundle)) if (!after.has(job.id)) after.set(job.id, job)
  const waiting = [...after.values()].filter(({ state }) => state === 'waiting')
  return fullRefusals(
    bundle,
    queue => waiting.filter(({ spec }) => spec.queue === queue).length > waitingMax,
  )
}
