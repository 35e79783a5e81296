// New jobs as the lists the server takes them in, one per column.

import type { Job } from '../../core/job.ts'
import { foldCase } from '../../core/query.ts'
import { specText } from '../../core/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import { alike, alikeDocuments, alikeTexts, NOTHING, numbers, texts } from './arrays.ts'
import { bodyOf } from '../shared/body.ts'
import type { Value } from './connection.ts'
import type { Place } from './places.ts'
import { heldUntil, kindCode, stateCode } from '../shared/job.ts'
import { momentOf } from './record.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'

export interface NewRows {
  readonly jobs: readonly Job[]
  readonly places: readonly Place[]
  readonly specs: readonly string[]
}

export function newRows(jobs: readonly Job[], places: readonly Place[]): NewRows {
  return { jobs, places, specs: jobs.map(job => specText(job.spec)) }
}

/** The values of `insertParameters`: most lists as the one value all have, if so. */
export function insertValues({ jobs, places, specs }: NewRows, now: Instant): Value[] {
  const moments = jobs.map(job => momentOf(job, now))
  const declared = jobs.map(job => job.declared)
  return [
    texts(jobs.map(job => toKey(job.id))),
    alikeTexts(jobs.map(job => toKeyOrNull(job.seriesId))),
    alike(jobs.map(kindCode)),
    alike(places.map(place => place.share)),
    alike(places.map(place => place.line)),
    alikeTexts(jobs.map(job => toKey(job.spec.lane))),
    numbers(jobs.map(stateCode)),
    alike(moments.map(moment => moment.what)),
    alike(moments.map(moment => moment.at)),
    alike(moments.map(moment => moment.rank)),
    alike(jobs.map(heldUntil)),
    alike(jobs.map(job => job.expireAt)),
    alike(jobs.map(job => job.counters.attempts)),
    alike(jobs.map(job => job.counters.fence)),
    alike(jobs.map(job => job.version)),
    ...leaseValues(jobs),
    alikeTexts(declared.map(by => (by === null ? null : toKey(by.app)))),
    alikeTexts(declared.map(by => (by === null ? null : toKey(by.definition)))),
    alike(jobs.map(job => job.createdAt)),
    alike(jobs.map(job => job.spec.retention.attempts)),
    alikeTexts(jobs.map(job => soughtId(job.id))),
    alikeTexts(soughtNames(jobs)),
    alikeDocuments(jobs.map(bodyOf)),
    alikeDocuments(specs),
    alikeDocuments(declared.map(by => (by === null ? '' : JSON.stringify(by)))),
  ]
}

function leaseValues(jobs: readonly Job[]): Value[] {
  // Jobs are seldom born with one.
  if (jobs.every(job => job.lease === null)) return [NOTHING, NOTHING, NOTHING, NOTHING]
  const leases = jobs.map(job => job.lease)
  return [
    alikeTexts(leases.map(lease => (lease === null ? null : toKey(lease.token)))),
    alikeTexts(leases.map(lease => (lease === null ? null : toKey(lease.owner)))),
    alikeTexts(leases.map(lease => (lease === null ? null : toKey(lease.attemptId)))),
    alike(leases.map(lease => (lease === null ? null : lease.claimedAt))),
  ]
}

/** Those that are alike, one after another, are folded once. */
function soughtNames(jobs: readonly Job[]): string[] {
  let name = ''
  let sought = ''
  return jobs.map(({ spec }) => {
    if (spec.name !== name) {
      name = spec.name
      sought = soughtText(name)
    }
    return sought
  })
}

const ASCII = /^[\x20-\x7e]*$/

/** The server folds plain ids itself. */
export function soughtId(id: string): string | null {
  return ASCII.test(id) ? null : soughtText(id)
}

/** A text as it is searched in, whatever the case. */
export function soughtText(text: string): string {
  return toKey(foldCase(text))
}

/** Which queues the jobs go to, and for each job which of them. */
export function queuesOf(jobs: readonly Job[]): { queues: string[]; at: number[] } {
  const queues: string[] = []
  const positions = new Map<string, number>()
  const at = jobs.map(({ spec: { queue } }) => {
    const known = positions.get(queue)
    if (known !== undefined) return known
    queues.push(toKey(queue))
    positions.set(queue, queues.length)
    return queues.length
  })
  return { queues, at }
}

/** `$1, $2, …` */
export function parameters(count: number): string {
  return Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')
}
