// The executions of one job, the newest first: the one under way, then what is settled.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import type { Page, Store } from '../../../store/port.ts'
import type { Attempt } from '../../../core/attempt.ts'
import { formOf } from '../crawl-jobs/flat.ts'
import { pageAnswer, type PageQuery } from '../../use-cases/call/paging.ts'
import { executionSchema, executionView, liveExecution, type ExecutionView } from './view.ts'

export const executionsAnswer = z
  .strictObject({ executions: z.array(executionSchema), total: z.int(), ...pageAnswer })
  .meta({ id: 'ExecutionList' })

export interface Executions {
  readonly items: readonly ExecutionView[]
  readonly total: number
  readonly cursor: string | null
}

export async function listExecutions(
  store: Store,
  job: Job,
  query: PageQuery,
): Promise<Executions> {
  const history = await kept(store, job)
  // Settled since the job was read: the history has it.
  const isOver = job.counters.attempts <= history.newest
  const live = isOver ? null : liveExecution(job)
  const total = history.count + (live === null ? 0 : 1)
  const { limit, cursor } = query
  if (cursor !== undefined) {
    const page = await settled(store, job, { limit, cursor, newestFirst: true })
    return {
      items: page.items.map(attempt => executionView(attempt, formOf(job))),
      total,
      cursor: page.cursor,
    }
  }
  const offset = query.offset ?? 0
  const leads = live !== null && offset === 0 ? [live] : []
  const room = limit - leads.length
  if (room === 0) return { items: leads, total, cursor: null }
  const skip = live === null ? offset : Math.max(0, offset - 1)
  const page = await settled(store, job, { limit: room, offset: skip, newestFirst: true })
  const isDouble = page.items.some(({ number }) => number === job.counters.attempts)
  const first = isDouble ? [] : leads
  return {
    items: [...first, ...page.items.map(attempt => executionView(attempt, formOf(job)))],
    total,
    cursor: page.cursor,
  }
}

interface Asked {
  readonly limit: number
  readonly cursor?: string
  readonly offset?: number
  readonly newestFirst: boolean
}

function settled(store: Store, job: Job, page: Asked): Promise<Page<Attempt>> {
  return store.attempts({ jobId: job.id }, page)
}

/** Numbers have no gaps and the oldest go first, so the ends of the history tell its length. */
async function kept(store: Store, job: Job): Promise<{ count: number; newest: number }> {
  const [oldest, newest] = await Promise.all([
    settled(store, job, { limit: 1, newestFirst: false }),
    settled(store, job, { limit: 1, newestFirst: true }),
  ])
  const first = oldest.items[0]?.number
  const last = newest.items[0]?.number
  if (first === undefined || last === undefined) return { count: 0, newest: 0 }
  return { count: last - first + 1, newest: last }
}
