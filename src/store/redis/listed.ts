// What leads to the jobs of a filter: marks, leases, or the shortest of the other indexes. And how
// jobs of before there were marks get theirs.

import { LIVE, marksOf } from '../shared/marks.ts'
import { states } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import type { JobFilter } from '../store.ts'
import { optional } from './cold.ts'
import type { Connection } from './connection.ts'

export interface Lead {
  /** Together they hold all jobs sought, each in the order of creation. */
  readonly indexes: readonly string[]
  /** Those who run are sought too, and found by their leases. */
  readonly isRunning: boolean
  /** Everything in the indexes is sought, as far as a row tells. */
  readonly isExact: boolean
}

export function leadTo(filter: JobFilter, isListed: boolean): Lead {
  return byRunning(filter) ?? (isListed ? byMark(filter) : null) ?? byIndex(filter)
}

function byRunning({ states: wanted, seriesId, app }: JobFilter): Lead | null {
  const isNarrow = seriesId !== undefined || app !== undefined
  if (isNarrow || wanted?.every(state => state === 'running') !== true) return null
  return { indexes: [], isRunning: true, isExact: false }
}

function byMark(filter: JobFilter): Lead | null {
  const { kind, seriesId, app, tenant, queue, handler, isUnstarted } = filter
  const wanted = filter.states ?? states
  const sought = marksOf({
    states: wanted,
    ...(kind === undefined ? {} : { kind }),
    ...(seriesId === undefined ? {} : { seriesId }),
    ...(app === undefined ? {} : { app }),
    ...(isUnstarted === undefined ? {} : { isUnstarted }),
  })
  if (sought === null) return null
  const hasLive = sought.marks.some(({ mark }) => mark === LIVE)
  const isAnywhere = queue === undefined && handler === undefined
  return {
    indexes: sought.marks.map(({ mark }) => markIndex(mark, tenant)),
    isRunning: sought.isRunning && !hasLive,
    isExact: isAnywhere && hasLive === sought.isRunning,
  }
}

/** As `markNames` in scripts has it. */
export function markIndex(mark: number, tenant: string | undefined): string {
  return tenant === undefined ? `mj:${mark}` : `mj:${mark}:${toKey(tenant)}`
}

function byIndex(filter: JobFilter): Lead {
  const { seriesId, app, tenant, states: wanted, kind, queue, handler, isUnstarted } = filter
  const isFree = [wanted, kind, queue, handler, isUnstarted].every(field => field === undefined)
  const isRunning = false
  if (seriesId !== undefined || app !== undefined) {
    const index = seriesId === undefined ? `aj:${optional(app!)}` : `sj:${optional(seriesId)}`
    return { indexes: [index], isRunning, isExact: isFree && tenant === undefined }
  }
  const index = tenant === undefined ? 'all' : `tj:${toKey(tenant)}`
  return { indexes: [index], isRunning, isExact: isFree }
}

/** Jobs that get their marks in one script. */
const BITE = 1_000

/** Bites are calls of their own: others are served in between, and one that fails is made again. */
export async function listOld(connection: Connection): Promise<void> {
  while ((await connection.run('listOld', [String(BITE)])) !== 1);
  connection.listed()
}
