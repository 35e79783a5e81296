// Runs of workflows, the newest first: those under way, then what is settled. Of one job, or of
// whatever runs one workflow: schedules, jobs of any kind and runs asked for by hand.

import { z } from 'zod'
import type { Registry } from '../../../actions/registry.ts'
import type { Attempt } from '../../../core/attempt.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import type { JobFilter, Page, Store } from '../../../store/port.ts'
import { workflowSettings } from '../../../workflows/action.ts'
import { parsePublicId, type AskedRun } from './run-id.ts'
import { liveRun, settledRun, workflowRunSchema, type WorkflowRunView } from './run-view.ts'

export const runsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  cursor: z.string().min(1).max(1_000).optional(),
})

export type RunsQuery = z.output<typeof runsQuery>

export const runsAnswer = z
  .strictObject({
    items: z.array(workflowRunSchema),
    next_cursor: z.string().nullable().meta({ description: 'Give it back as cursor to go on.' }),
  })
  .meta({ id: 'WorkflowRunList' })

export type Runs = z.output<typeof runsAnswer>

export const WORKFLOW_HANDLER = 'action:workflow'

/** Null when the job runs no workflow. */
export function workflowIdOf({ spec }: Job, actions: Registry): number | null {
  const parsed = workflowSettings.safeParse(actions.read(spec)?.action)
  return parsed.success ? parsed.data.workflow_id : null
}

export async function runsOfJob(store: Store, job: Job, query: RunsQuery): Promise<Runs> {
  const { limit, cursor } = query
  const live = cursor === undefined ? await liveRun(store, job) : null
  const leads = live === null ? [] : [live]
  const page = await store.attempts(
    { jobId: job.id },
    { limit, newestFirst: true, ...(cursor === undefined ? {} : { cursor }) },
  )
  const settled = await inTurn(page.items, attempt => settledRun(store, job, attempt))
  return { items: [...leads, ...settled], next_cursor: page.cursor }
}

export interface OfWorkflow {
  readonly tenant: string
  readonly workflowId: number
}

/** The first page begins with those under way, however many there are. */
export async function runsOfWorkflow(
  store: Store,
  actions: Registry,
  { tenant, workflowId }: OfWorkflow,
  query: RunsQuery,
): Promise<Runs> {
  const runsIt = (job: Job) => workflowIdOf(job, actions) === workflowId
  const items: WorkflowRunView[] = []
  if (query.cursor === undefined) items.push(...(await underWay(store, tenant, runsIt)))
  const jobs = new Map<string, Job>()
  let cursor = query.cursor ?? null
  let looked = 0
  let found = 0
  do {
    const filter = { tenant, handler: WORKFLOW_HANDLER }
    const page: Page<Attempt> = await store.attempts(filter, {
      limit: query.limit - found,
      cursor,
      newestFirst: true,
    })
    const unknown = page.items.map(({ jobId }) => jobId).filter(id => !jobs.has(id))
    for (const job of await store.get([...new Set(unknown)])) jobs.set(job.id, job)
    const own = page.items.filter(({ jobId }) => jobs.has(jobId) && runsIt(jobs.get(jobId)!))
    items.push(...(await inTurn(own, one => settledRun(store, jobs.get(one.jobId)!, one))))
    found += own.length
    looked += page.items.length
    cursor = page.cursor
  } while (cursor !== null && found < query.limit && looked < limits.scannedMax)
  return { items, next_cursor: cursor }
}

async function underWay(
  store: Store,
  tenant: string,
  runsIt: (job: Job) => boolean,
): Promise<WorkflowRunView[]> {
  const filter: JobFilter = { tenant, handler: WORKFLOW_HANDLER, states: ['running'] }
  const page = await store.list(filter, { limit: limits.pageMax, newestFirst: true })
  const views = await inTurn(page.items.filter(runsIt), job => liveRun(store, job))
  return views.filter(view => view !== null)
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const made: R[] = []
  for (const item of items) made.push(await work(item))
  return made
}

/** Runs that are looked through for the one a repeat was. */
const LOOKED_MAX = 250

/** One run by its public id or its run's id, the newest attempt of it; null when there is none. */
export async function findRun(
  store: Store,
  id: string,
  isMeant: (job: Job) => boolean,
): Promise<WorkflowRunView | null> {
  const asked = parsePublicId(id)
  if (asked === null) return null
  const [job] = await store.get([asked.jobId])
  if (!job || !isMeant(job)) return null
  const live = await liveRun(store, job)
  if (live !== null && isAsked(live, job, asked)) return live
  if ('run' in asked) return newestOf(store, job, asked.run, asked)
  // Runs asked for by hand take numbers too, so a repeat may have a later one.
  const last = Math.min(job.counters.runs, asked.repeat + LOOKED_MAX)
  for (let run = asked.repeat + 1; run <= last; run++) {
    const found = await newestOf(store, job, run, asked)
    if (found !== null) return found
  }
  return null
}

async function newestOf(
  store: Store,
  job: Job,
  run: number,
  asked: AskedRun,
): Promise<WorkflowRunView | null> {
  const page = { limit: limits.pageMax, newestFirst: true }
  const { items } = await store.attempts({ jobId: job.id, run }, page)
  for (const attempt of items) {
    const view = await settledRun(store, job, attempt)
    if (isAsked(view, job, asked)) return view
  }
  return null
}

function isAsked(view: WorkflowRunView, job: Job, asked: AskedRun): boolean {
  if (asked.retries !== null && view.retry_number !== asked.retries) return false
  return 'run' in asked
    ? view.run_id === `${job.id}.${asked.run}`
    : view.repeat_number === asked.repeat
}
