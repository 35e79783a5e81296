// Lists of schedules: by status and workflow, the newest first, counted.

import { z } from 'zod'
import type { Job, State } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import type { JobFilter, Page, Store } from '../../../store/port.ts'
import { pagesOf } from '../../use-cases/call/paging.ts'
import { workflowLimits } from '../../../workflows/workflow.ts'
import { SCHEDULES_APP } from '../../../workflows/schedule.ts'
import { definitionOf } from './label.ts'
import { scheduleSchema, scheduleStatuses, type ScheduleStatus } from './view.ts'

export const listQuery = z.object({
  status: z
    .enum(scheduleStatuses, { error: `must be one of ${scheduleStatuses.join(', ')}` })
    .optional(),
  workflow_id: z.coerce.number().int().min(1).max(workflowLimits.idMax).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  offset: z.coerce.number().int().min(0).max(limits.offsetMax).default(0),
})

export type ListQuery = z.output<typeof listQuery>

export const listAnswer = z
  .strictObject({ items: z.array(scheduleSchema), total: z.int() })
  .meta({ id: 'ScheduleList' })

export interface Listed {
  readonly items: readonly Job[]
  readonly total: number
}

const statesOf: Readonly<Record<ScheduleStatus, readonly State[]>> = {
  active: ['waiting', 'running'],
  paused: ['paused'],
  done: ['completed'],
  dead: ['failed', 'cancelled'],
}

export async function findSchedules(
  store: Store,
  query: ListQuery,
  scope: { readonly tenant?: string },
): Promise<Listed> {
  const { status, workflow_id, limit, offset } = query
  const all: JobFilter = {
    kind: 'job',
    app: SCHEDULES_APP,
    ...(workflow_id === undefined ? {} : { definition: definitionOf(workflow_id) }),
    ...scope,
  }
  const filter = status === undefined ? all : { ...all, states: statesOf[status] }
  const pausing = await pausingIn(store, all, status)
  if (pausing.size > 0) return sifted(store, all, query, pausing)
  const [page, total] = await Promise.all([
    store.list(filter, { limit, offset, newestFirst: true }),
    store.count(filter, limits.offsetMax),
  ])
  return { items: page.items, total }
}

/** Running ones that were paused: they read as paused, which the store cannot know. */
async function pausingIn(
  store: Store,
  all: JobFilter,
  status: ScheduleStatus | undefined,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  if (status !== 'active' && status !== 'paused') return found
  const counts = await store.counts(all.tenant === undefined ? {} : { tenant: all.tenant })
  // Looking for them costs more than knowing that there are none.
  if (!counts.some(({ kind, state, count }) => kind === 'job' && state === 'running' && count > 0))
    return found
  const running: JobFilter = { ...all, states: ['running'] }
  for await (const { items } of pagesOf(page => store.list(running, page))) {
    for (const job of items) if (job.pauseAsked !== null) found.add(job.id)
  }
  return found
}

/** The same page and total with those few on the side where they belong. */
async function sifted(
  store: Store,
  all: JobFilter,
  { status, limit, offset }: ListQuery,
  pausing: ReadonlySet<string>,
): Promise<Listed> {
  const isPaused = status === 'paused'
  const states: readonly State[] = isPaused ? ['paused', 'running'] : ['waiting', 'running']
  const fits = (job: Job) => job.state !== 'running' || pausing.has(job.id) === isPaused
  const filter: JobFilter = { ...all, states }
  const found: Job[] = []
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list(filter, {
      limit: limits.pageMax,
      cursor,
      newestFirst: true,
    })
    found.push(...page.items.filter(fits))
    cursor = page.cursor
  } while (cursor !== null && found.length < offset + limit)
  const certain = await store.count({ ...all, states: statesOf[status!] }, limits.offsetMax)
  const total = isPaused ? certain + pausing.size : certain - pausing.size
  return { items: found.slice(offset, offset + limit), total }
}
