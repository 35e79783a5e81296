// Lists of jobs: filtered by status, sorted by a few fields, paged by offset or cursor.

import { z } from 'zod'
import type { Job, State } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { statusOf, type Status } from '../../core/status.ts'
import type { JobFilter, Page, Store } from '../../store/store.ts'
import { pageAnswer, pageOf, pageQuery } from '../app/paging.ts'
import { refuseInvalid } from '../app/refusal.ts'
import { tenantPattern } from '../auth/principal.ts'
import { jobSchema, nextMoment, statuses } from './view.ts'

const sorts = ['created_at', 'updated_at', 'next_run_at', 'name', 'status', 'priority'] as const
type Sort = (typeof sorts)[number]
/** Sorting by what no index knows means reading all of it. */
const SORTED_MAX = 5_000

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
  tag: z.string().min(1).max(limits.nameLength).optional(),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
})

export type ListQuery = z.output<typeof listQuery>

export const listAnswer = z
  .strictObject({ jobs: z.array(jobSchema), total: z.int(), ...pageAnswer })
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
}

export async function listJobs(
  store: Store,
  query: ListQuery,
  scope: { readonly tenant?: string },
): Promise<Listed> {
  const filter = filterOf(query, scope)
  const isDown = query.sort.startsWith('-')
  const sort = (isDown ? query.sort.slice(1) : query.sort) as Sort
  if (sort !== 'created_at') return sorted(store, filter, query, { sort, isDown })
  if (query.tag !== undefined) return tagged(store, filter, query, isDown)
  const page = pageOf(query, isDown)
  return { page: await store.list(filter, page), total: await totalOf(store, filter) }
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

const hasTag = (tag: string | undefined) => (job: Job) =>
  tag === undefined || job.spec.tags.includes(tag)

/** No index knows tags: rows are read until the page is full and enough of them are counted. */
async function tagged(
  store: Store,
  filter: JobFilter,
  { tag, offset = 0, limit }: ListQuery,
  newestFirst: boolean,
): Promise<Listed> {
  const fits = hasTag(tag)
  const items: Job[] = []
  let cursor: string | null = null
  let looked = 0
  let total = 0
  do {
    const request = { limit: limits.pageMax, cursor, newestFirst }
    const found: Page<Job> = await store.list(filter, request)
    looked += found.items.length
    for (const job of found.items) {
      if (!fits(job)) continue
      if (total >= offset && items.length < limit) items.push(job)
      total++
    }
    cursor = found.cursor
    if (looked >= limits.scannedMax && items.length === limit) break
  } while (cursor !== null && looked < limits.offsetMax)
  return { page: { items, cursor: null }, total }
}

async function sorted(
  store: Store,
  filter: JobFilter,
  query: ListQuery,
  { sort, isDown }: { sort: Sort; isDown: boolean },
): Promise<Listed> {
  const items: Job[] = []
  let cursor: string | null = null
  do {
    const found: Page<Job> = await store.list(filter, { limit: limits.pageMax, cursor })
    items.push(...found.items.filter(hasTag(query.tag)))
    cursor = found.cursor
    const isFull = items.length > SORTED_MAX
    const rule = `sorts at most ${SORTED_MAX} jobs: ask for fewer, or sort by created_at`
    refuseInvalid('jobs', isFull ? [{ field: 'sort', value: sort, rule }] : [])
  } while (cursor !== null)
  const keys = new Map(items.map(job => [job, keyOf(job, sort)]))
  items.sort((a, b) => compare(keys.get(a)!, keys.get(b)!) * (isDown ? -1 : 1))
  const from = query.offset ?? 0
  return {
    page: { items: items.slice(from, from + query.limit), cursor: null },
    total: items.length,
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

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
