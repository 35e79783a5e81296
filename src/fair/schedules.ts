// Schedules of the fair queue: jobs whose every firing becomes a task of its own. The client comes
// from the caller, so that deeds are written down in its name.

import { shortId } from '../core/short-id.ts'
import { SchedulerError } from '../core/errors.ts'
import { FAIR_SCHEDULE } from '../core/fairness/fair.ts'
import type { Job } from '../core/job.ts'
import { userOf } from '../core/fairness/lane.ts'
import { limits } from '../core/limits.ts'
import { priorityNames } from '../core/spec.ts'
import type { Client, Guard } from '../jobs/client.ts'
import type { JobFilter, Page, PageRequest, Store } from '../store/port.ts'
import {
  editedSchedule,
  scheduleSpec,
  type Of,
  type ScheduleChange,
  type ScheduleInput,
} from './spec.ts'

export async function addSchedule(
  client: Client,
  { id, ...input }: ScheduleInput & { readonly id: string },
  of: Of,
): Promise<Job> {
  const spec = scheduleSpec(input, of)
  const [made] = await client.create([{ id, spec }])
  if (made!.result === 'inserted') return made!.job
  if (made!.result === 'full') throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full`)
  throw new SchedulerError('REVISION_CONFLICT', `schedule ${shortId(id)} is there already`)
}

/**
 * Cron, zone and being made active again count from now: nothing fires at once. One that was set
 * aside because it could not be read goes on with an expression that can.
 */
export async function changeSchedule(
  client: Client,
  id: string,
  { isActive, ...input }: ScheduleChange,
  guard: Guard,
): Promise<Job> {
  const job = await client.edit(id, spec => editedSchedule(spec, input), guard)
  if (isActive === undefined || isActive === isActiveSchedule(job)) return job
  const { check } = guard
  const again: Guard = check ? { check } : {}
  return isActive ? client.resume(id, again) : client.pause(id, {}, again)
}

export function isFairSchedule(job: Job, tenant: string | null): boolean {
  const isOwn = tenant === null || job.spec.tenant === tenant
  return isOwn && job.kind === 'job' && job.spec.handler === FAIR_SCHEDULE
}

/** Null when there is none, or it belongs to someone else. */
export async function findSchedule(
  store: Store,
  id: string,
  tenant: string | null,
): Promise<Job | null> {
  const [job] = await store.get([id])
  return job && isFairSchedule(job, tenant) ? job : null
}

export function isActiveSchedule({ state }: Job): boolean {
  return state === 'waiting' || state === 'running'
}

export interface ScheduleFilter {
  readonly tenant: string | null
  readonly userId?: string
  readonly isActive?: boolean
}

const activeStates = ['waiting', 'running'] as const
const inactiveStates = ['paused', 'completed', 'failed', 'cancelled'] as const

/** Looks at a bounded number, so a page may be short while its cursor says that more may follow. */
export async function listSchedules(
  store: Store,
  { tenant, userId, isActive }: ScheduleFilter,
  page: PageRequest,
): Promise<Page<Job>> {
  const filter: JobFilter = {
    handler: FAIR_SCHEDULE,
    kind: 'job',
    ...(tenant === null ? {} : { tenant }),
    ...(isActive === undefined ? {} : { states: isActive ? activeStates : inactiveStates }),
  }
  if (userId === undefined) return store.list(filter, page)
  const found: Job[] = []
  let cursor = page.cursor ?? null
  for (let seen = 0; seen < limits.scannedMax; seen += limits.pageMax) {
    const { items, cursor: next } = await store.list(filter, {
      limit: limits.pageMax,
      newestFirst: page.newestFirst ?? false,
      cursor,
    })
    for (const job of items) if (userId === userOf(job.spec.tenant, job.spec.lane)) found.push(job)
    cursor = next
    if (cursor === null || found.length >= page.limit) break
  }
  return { items: found, cursor }
}

export interface ScheduleStats {
  readonly total: number
  readonly active: number
  readonly inactive: number
  /** Of the active ones. */
  readonly byUser: Readonly<Record<string, number>>
  /** Of the active ones, by the name of the priority. */
  readonly byPriority: Readonly<Record<string, number>>
  /** Whether there are more than were counted. */
  readonly isPartial: boolean
}

const COUNTED_MAX = 100_000

export async function scheduleStats(store: Store, tenant: string | null): Promise<ScheduleStats> {
  // Users may have any name, that of a member of every object included.
  const byUser = new Map<string, number>()
  const byPriority = new Map<string, number>()
  let active = 0
  let total = 0
  let cursor: string | null = null
  do {
    const page: Page<Job> = await listSchedules(
      store,
      { tenant },
      { limit: limits.pageMax, cursor },
    )
    for (const job of page.items) {
      total++
      if (!isActiveSchedule(job)) continue
      active++
      const user = userOf(job.spec.tenant, job.spec.lane) ?? ''
      const name = priorityNames[job.spec.priority]
      byUser.set(user, (byUser.get(user) ?? 0) + 1)
      byPriority.set(name, (byPriority.get(name) ?? 0) + 1)
    }
    cursor = page.cursor
  } while (cursor !== null && total < COUNTED_MAX)
  return {
    total,
    active,
    inactive: total - active,
    byUser: Object.fromEntries(byUser),
    byPriority: Object.fromEntries(byPriority),
    isPartial: cursor !== null,
  }
}
