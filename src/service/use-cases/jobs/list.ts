// Lists of jobs: filtered by status, sorted by a few fields, paged by offset or cursor.

import { z } from 'zod'
import type { Job, State } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { statusOf, type Status } from '../../../core/control/status.ts'
import type { Instant } from '../../../core/time.ts'
import type { JobFilter, Page, Store } from '../../../store/port.ts'
import { pageAnswer, pageOf, pageQuery, pagesOf } from '../call/paging.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { tenantPattern } from '../../auth/principal.ts'
import { dueSpan, inDueOrder } from './due-order.ts'
import {
  dueJobs,
  fitting,
  isPlain,
  isQualified,
  qualifierFields,
  type Found,
} from './qualifiers.ts'
import { formQuery, jobSchema, nextMoment, statuses } from './view.ts'

const sorts = ['created_at', 'updated_at', 'next_run_at', 'name', 'status', 'priority'] as const
type Sort = (typeof sorts)[number]
/** Sorting by what no index knows means reading all of it. */
const SORTED_MAX = 5_000
const DUE_SORTED_MAX = 20_000

const sortPattern = new RegExp(`^-?(?:${sorts.join('|')})$`)
const statusPattern = new RegExp(`^(?:${statuses.join('|')})(?:,(?:${statuses.join('|')}))*$`)

export const listQuery = pageQuery.extend({
  status: z
    .string()
    .regex(statusPattern, `must be a comma list of ${statuses.join(', ')}`)
    .optional(),
  sort: z
    .string()
    .regex(sortPattern, `must be one of ${sorts.join(', ')}, with - before it for descending`)
    .default('-created_at'),
  queue: z.string().min(1).max(limits.nameLength).optional(),
  handler: z.string().min(1).max(limits.nameLength).optional(),
  search: z.string().min(1).max(limits.nameLength).optional(),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
  ...qualifierFields,
  ...formQuery.shape,
})

export type ListQuery = z.output<typeof listQuery>

export const listAnswer = z
  .strictObject({
    jobs: z.array(jobSchema),
    total: z.int(),
    is_partial: z
      .literal(true)
      .optional()
      .meta({ description: 'Not all jobs were looked at: there may be more that fit.' }),
    ...pageAnswer,
  })
  .meta({ id: 'JobList' })

const stateOf: Readonly<Record<Status, State>> = {
  pending: 'waiting',
  scheduled: 'waiting',
  running: 'running',
  paused: 'paused',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
}

function filterOf(query: ListQuery, scope: { readonly tenant?: string }): JobFilter {
  const asked = [...new Set(query.status?.split(',') ?? [])] as Status[]
  const states = [...new Set(asked.map(status => stateOf[status]))]
  const isHalf = asked.includes('pending') !== asked.includes('scheduled')
  const { queue, handler, search, tenant } = query
  return {
    kind: 'job',
    ...(tenant === undefined ? {} : { tenant }),
    ...scope,
    ...(states.length === 0 ? {} : { states }),
    ...(isHalf ? { isUnstarted: asked.includes('pending') } : {}),
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
    ...(search === undefined ? {} : { search }),
  }
}

export interface Listed {
  readonly page: Page<Job>
  readonly total: number
  readonly isPartial: boolean
}

interface Asked {
  readonly query: ListQuery
  readonly filter: JobFilter
  readonly now: Instant
  readonly sort: Sort
  readonly isDown: boolean
}

export async function findJobs(
  store: Store,
  query: ListQuery,
  scope: { readonly tenant?: string },
  now: Instant,
): Promise<Listed> {
  const filter = filterOf(query, scope)
  const isDown = query.sort.startsWith('-')
  const sort = (isDown ? query.sort.slice(1) : query.sort) as Sort
  const asked = { query, filter, now, sort, isDown }
  const due = await dueJobs(store, filter, query, now)
  if (due?.counted !== undefined && sort === 'next_run_at') {
    const { window, total } = due.counted
    const { offset = 0, limit } = query
    const span = { offset, limit: Math.max(0, Math.min(limit, total - offset)) }
    const items = await dueSpan(store, { ...filter, ...window }, { ...span, total, isDown })
    return { page: { items, cursor: null }, total, isPartial: false }
  }
  if (due !== null) return inOrder(due, asked)
  if (sort === 'next_run_at' && isPlain(filter) && !isQualified(query)) {
    const total = await totalOf(store, filter)
    if (total > SORTED_MAX) return byDue(store, asked, total)
  }
  if (sort !== 'created_at') return inOrder(await allOf(store, asked), asked)
  if (isQualified(query)) return looked(store, asked)
  const page = pageOf(query, isDown)
  const [found, total] = [await store.list(filter, page), await totalOf(store, filter)]
  return { page: found, total, isPartial: false }
}

/** The index knows the order: a page of it is read, not all to sort it. */
async function byDue(store: Store, asked: Asked, total: number): Promise<Listed> {
  const { query, filter, isDown } = asked
  const { offset = 0, limit } = query
  const items = await inDueOrder(store, filter, { offset, limit }, isDown)
  return { page: { items, cursor: null }, total, isPartial: false }
}

/** From the counts that are kept as work happens, where they are fine enough. */
async function totalOf(store: Store, filter: JobFilter): Promise<number> {
  const { tenant, states, queue, handler, search, isUnstarted } = filter
  if (search !== undefined) return store.count(filter, limits.offsetMax)
  const counts = await store.counts(tenant === undefined ? {} : { tenant })
  const sumOf = (isWanted: (state: State) => boolean) =>
    counts
      .filter(
        count =>
          count.kind === 'job' &&
          isWanted(count.state) &&
          (queue === undefined || count.queue === queue) &&
          (handler === undefined || count.handler === handler),
      )
      .reduce((sum, { count }) => sum + count, 0)
  const waiting = sumOf(state => state === 'waiting')
  const total = sumOf(state => states?.includes(state) ?? true)
  if (isUnstarted === undefined || waiting === 0) return total
  // Counts tell that jobs wait, not what for: the few that wait for their start are counted.
  const unstarted = await store.count(
    { ...filter, states: ['waiting'], isUnstarted: true },
    limits.offsetMax,
  )
  return total - (isUnstarted ? waiting - unstarted : unstarted)
}

/** No index knows these: rows are read until the page is full and enough of them are counted. */
async function looked(store: Store, { query, filter, now, isDown }: Asked): Promise<Listed> {
  const { offset = 0, limit } = query
  const fits = fitting(query, now)
  const items: Job[] = []
  let cursor: string | null = null
  let read = 0
  let total = 0
  do {
    const request = { limit: limits.pageMax, cursor, newestFirst: isDown }
    const found: Page<Job> = await store.list(filter, request)
    read += found.items.length
    for (const job of found.items) {
      if (!fits(job)) continue
      if (total >= offset && items.length < limit) items.push(job)
      total++
    }
    cursor = found.cursor
    if (read >= limits.scannedMax && items.length === limit) break
  } while (cursor !== null && read < limits.offsetMax)
  return { page: { items, cursor: null }, total, isPartial: cursor !== null }
}

async function allOf(store: Store, { query, filter, now, sort }: Asked): Promise<Found> {
  const fits = fitting(query, now)
  const jobs: Job[] = []
  // The next run is what most people sort by: with other filters more is read for it.
  const most = sort === 'next_run_at' ? DUE_SORTED_MAX : SORTED_MAX
  const rule = `sorts at most ${most} jobs: ask for fewer, or sort by created_at or next_run_at`
  let isPartial = false
  for await (const { items, cursor } of pagesOf(page => store.list(filter, page))) {
    jobs.push(...items.filter(fits))
    isPartial = cursor !== null
    refuseInvalid('jobs', jobs.length > most ? [{ field: 'sort', value: sort, rule }] : [])
  }
  return { jobs, isPartial }
}

function inOrder({ jobs, isPartial, counted }: Found, asked: Asked): Listed {
  const { query, sort, isDown } = asked
  const keys = new Map(jobs.map(job => [job, keyOf(job, sort)]))
  const items = jobs.toSorted((a, b) => inDirection(keys.get(a)!, keys.get(b)!, isDown))
  const from = query.offset ?? 0
  return {
    page: { items: items.slice(from, from + query.limit), cursor: null },
    total: counted?.total ?? items.length,
    isPartial,
  }
}

function keyOf(job: Job, sort: Sort): string | number {
  switch (sort) {
    case 'created_at':
      return job.createdAt
    case 'updated_at':
      return job.updatedAt
    case 'next_run_at':
      return nextMoment(job) ?? Infinity
    case 'name':
      return job.spec.name
    case 'status':
      return statusOf(job)
    case 'priority':
      return job.spec.priority
  }
}

/** Jobs without a next run come last in either direction. */
function inDirection(a: string | number, b: string | number, isDown: boolean): number {
  if (a === Infinity || b === Infinity) return compare(a, b)
  return compare(a, b) * (isDown ? -1 : 1)
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
