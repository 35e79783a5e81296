// Which indexes lead to the jobs of a filter: lists by status, leases, or the shortest of the others.
// While a job runs for the first time it stays in the list of the unstarted ones (status.lua).

import type { State } from '../../core/job.ts'
import { states } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import type { JobFilter } from '../port.ts'

/** Lists of waiting jobs, and those that have the name of their state. */
export const UNSTARTED = 'unstarted'
const LIVE = 'live'
const ended: readonly State[] = ['paused', 'completed', 'failed', 'cancelled']
export const statuses: readonly string[] = [UNSTARTED, LIVE, ...ended]

export interface Indexes {
  /** Together they hold all jobs sought, each in the order of creation. */
  readonly names: readonly string[]
  /** Those who run are sought too, and found by their leases. */
  readonly needsRunning: boolean
  /** Everything in the indexes is sought: no row has to be read. */
  readonly isExact: boolean
}

export function statusIndex(status: string, tenant: string | undefined): string {
  const name = `jobs:by-status:${status}`
  return tenant === undefined ? name : `${name}:${toKey(tenant)}`
}

export function indexesFor(filter: JobFilter): Indexes {
  return running(filter) ?? byStatus(filter) ?? byOther(filter)
}

function running({ states: wanted, seriesId, app }: JobFilter): Indexes | null {
  const isNarrow = seriesId !== undefined || app !== undefined
  if (isNarrow || wanted?.every(state => state === 'running') !== true) return null
  return { names: [], needsRunning: true, isExact: false }
}

function byStatus(filter: JobFilter): Indexes | null {
  const { kind, seriesId, app, tenant, queue, handler, isUnstarted } = filter
  if (kind !== 'job' || seriesId !== undefined || app !== undefined) return null
  const wanted = new Set(filter.states ?? states)
  const hasRunning = wanted.has('running')
  const waiting = wanted.has('waiting') ? waitingStatuses(isUnstarted) : []
  const sought = [...waiting, ...ended.filter(state => wanted.has(state))]
  const isWhole = waiting.length === 2 ? hasRunning : waiting.length === 0 && !hasRunning
  return {
    names: sought.map(status => statusIndex(status, tenant)),
    needsRunning: hasRunning && waiting.length < 2,
    isExact: isWhole && queue === undefined && handler === undefined,
  }
}

function waitingStatuses(isUnstarted: boolean | undefined): string[] {
  if (isUnstarted === undefined) return [UNSTARTED, LIVE]
  return [isUnstarted ? UNSTARTED : LIVE]
}

function byOther(filter: JobFilter): Indexes {
  const { seriesId, app, tenant, states: wanted, kind, queue, handler, isUnstarted } = filter
  const isFree = [wanted, kind, queue, handler, isUnstarted].every(field => field === undefined)
  const needsRunning = false
  if (seriesId !== undefined || app !== undefined) {
    const name =
      seriesId === undefined ? `jobs:by-app:${toKey(app!)}` : `jobs:by-series:${toKey(seriesId)}`
    return { names: [name], needsRunning, isExact: isFree && tenant === undefined }
  }
  const name = tenant === undefined ? 'jobs:all' : `jobs:by-tenant:${toKey(tenant)}`
  return { names: [name], needsRunning, isExact: isFree }
}
