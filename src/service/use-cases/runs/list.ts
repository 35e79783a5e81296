// Runs across jobs, the open ones first: each phase is a list of its own, and a cursor says which
// phase it is in.

import { z } from 'zod'
import type { Attempt, OutcomeKind } from '../../../core/attempt.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { isRunOpen, runOf, type Run, type RunStatus } from '../../../core/history/run.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import type { Engine } from '../../../create-engine.ts'
import type { AttemptFilter, Page } from '../../../store/port.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { tenantPattern } from '../../auth/principal.ts'
import { moment } from '../jobs/texts.ts'
import { waitingTask } from './find.ts'
import { jobsOf } from './history.ts'
import { runSchema, runStatuses, runView, type RunView } from './view.ts'

const statusPattern = new RegExp(`^(?:${runStatuses.join('|')})(?:,(?:${runStatuses.join('|')}))*$`)
const name = z.string().min(1).max(limits.idLength)

export const runsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  cursor: z.string().min(1).max(1_500).optional(),
  job: name.optional().meta({ description: 'Only runs of this job, those in its tasks too.' }),
  status: z
    .string()
    .regex(statusPattern, `must be a comma list of ${runStatuses.join(', ')}`)
    .optional(),
  queue: name.optional(),
  handler: name.optional(),
  since: moment.optional().meta({ description: 'Finished at or after; open runs always fit.' }),
  until: moment.optional().meta({ description: 'Finished before.' }),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
  retried: z.literal('true', 'must be true or left out').optional().meta({
    description: 'In place of runs, the attempts that failed and were tried again, a row for each.',
  }),
})

export type RunsQuery = z.output<typeof runsQuery>

export const runsAnswer = z
  .strictObject({
    runs: z.array(runSchema),
    limit: z.int(),
    next_cursor: z.string().nullable().meta({ description: 'Give it back as cursor to go on.' }),
  })
  .meta({ id: 'RunList' })

export interface Scope {
  readonly tenant?: string
}

/** Store pages read for one answer; a filter that lets little through gives short answers. */
const ROUNDS_MAX = 8
/** Of these, pages for which the store looked at many rows and found few. */
const SHORT_MAX = 2

type Read = (cursor: string | null, limit: number) => Promise<Page<RunView>>

export async function findRuns(engine: Engine, query: RunsQuery, scope: Scope) {
  const phases = await phasesOf(engine, query, scope)
  const names = [...phases.keys()]
  const from = query.cursor === undefined ? null : cursorOf(query.cursor, names)
  let at = from === null ? 0 : names.indexOf(from.phase)
  let cursor = from?.cursor ?? null
  const runs: RunView[] = []
  let short = 0
  for (let round = 0; at < names.length && round < ROUNDS_MAX && short < SHORT_MAX; round++) {
    const room = query.limit - runs.length
    const page = await phases.get(names[at]!)!(cursor, room)
    runs.push(...page.items)
    cursor = page.cursor
    if (cursor !== null && page.items.length < room / 2) short++
    if (cursor === null) at++
    if (runs.length >= query.limit) break
  }
  const next = at < names.length ? encode(names[at]!, cursor) : null
  // A run that ended between two phases was found in both: the later one tells how it ended.
  const keyOf = (run: RunView) => (query.retried === undefined ? run.id : run.execution_id)
  const once = [...new Map(runs.map(run => [keyOf(run), run])).values()]
  return { runs: once, limit: query.limit, next_cursor: next }
}

function encode(phase: string, cursor: string | null): string {
  return Buffer.from(JSON.stringify([phase, cursor])).toString('base64url')
}

function cursorOf(text: string, phases: readonly string[]) {
  try {
    const [phase, cursor] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    const isKnown = typeof phase === 'string' && phases.includes(phase)
    if (isKnown && cursor === null) return { phase, cursor }
    if (isKnown && typeof cursor === 'string' && placesOf(phase).test(cursor)) {
      return { phase, cursor }
    }
  } catch {
    // Said below, in the same words.
  }
  const rule = 'must be a next_cursor of the same question'
  refuseInvalid('native', [{ field: 'cursor', value: text, rule }])
  return null
}

/** Attempts of many jobs are in the order of their ids, everything else is counted. */
function placesOf(phase: string): RegExp {
  return phase === ACROSS || phase === IN_TASKS ? /^[\x21-\x7e]{1,400}$/ : /^\d{1,15}$/
}

const ACROSS = 'settled'
const IN_TASKS = 'settled-tasks'

async function phasesOf(engine: Engine, query: RunsQuery, scope: Scope) {
  const phases = new Map<string, Read>()
  const asked = new Set((query.status?.split(',') ?? runStatuses) as RunStatus[])
  const { since, until, job: jobId, queue, handler } = query
  const [job] = jobId === undefined ? [] : await engine.store.get([jobId])
  const isForeign = job && scope.tenant !== undefined && job.spec.tenant !== scope.tenant
  if (jobId !== undefined && (!job || isForeign)) return phases
  const where = {
    ...scope,
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
  }
  const sift = (items: readonly RunView[]) => items.filter(({ status }) => asked.has(status))
  // A window that lies in the past holds no open run.
  const isOpenAsked = until === undefined || Date.parse(until) > engine.clock.now()
  const isOfRuns = query.retried === undefined
  if (isOfRuns && isOpenAsked && (asked.has('running') || asked.has('queued'))) {
    if (job) addOpenOf(phases, engine, job, sift)
    else addOpen(phases, engine, where, sift)
  }
  const outcomes = isOfRuns ? outcomesOf(asked) : failures
  if (outcomes.length === 0) return phases
  const filter: AttemptFilter = {
    ...where,
    ...(query.status === undefined && isOfRuns ? {} : { outcomes }),
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  }
  const settled =
    (more: AttemptFilter): Read =>
    async (cursor, limit) => {
      const found = await engine.store.attempts(
        { ...filter, ...more },
        { limit, cursor, newestFirst: true },
      )
      const items = isOfRuns
        ? sift(await settledRuns(engine, found.items))
        : await retriedAttempts(engine, found.items)
      return { items, cursor: found.cursor }
    }
  if (!job) return phases.set(ACROSS, settled({}))
  const own = ['settled-own', settled({ jobId: job.id })] as const
  if (query.cursor === undefined && !(await hasTasks(engine, job))) return phases.set(...own)
  const tasks = [IN_TASKS, settled({ seriesId: job.id })] as const
  const isMostlyTasks = job.spec.overlap.policy === 'allow'
  for (const [key, read] of isMostlyTasks ? [tasks, own] : [own, tasks]) phases.set(key, read)
  return phases
}

/** Few jobs have any, and to find no attempt of theirs takes a walk through those of all jobs. */
async function hasTasks({ store }: Engine, { id }: Job): Promise<boolean> {
  return (await store.list({ seriesId: id }, { limit: 1 })).items.length > 0
}

type Sift = (items: readonly RunView[]) => RunView[]
type Where = Scope & { readonly queue?: string; readonly handler?: string }

function addOpen(phases: Map<string, Read>, engine: Engine, where: Where, sift: Sift): void {
  const { store, clock } = engine
  phases.set('running', async (cursor, limit) => {
    const page = await store.list({ ...where, states: ['running'] }, { limit, cursor })
    return { items: sift(page.items.flatMap(openRun)), cursor: page.cursor }
  })
  // What waits for a slot: the earliest due rows that are known to be a run already.
  phases.set('queued', async (_cursor, limit) => {
    const { handler, ...rest } = where
    const request = { ...rest, from: 0, until: clock.now() + 1, limit }
    const due = await store.upcoming(request)
    const fitting = due.filter(({ spec }) => handler === undefined || spec.handler === handler)
    return { items: sift(fitting.flatMap(openRun)), cursor: null }
  })
}

function addOpenOf(phases: Map<string, Read>, engine: Engine, job: Job, sift: Sift): void {
  phases.set('open', async (cursor, limit) => {
    const all = sift(openRuns(job))
    const from = Number(cursor ?? 0) || 0
    const next = from + limit
    return { items: all.slice(from, next), cursor: next < all.length ? String(next) : null }
  })
  phases.set('open-tasks', async (cursor, limit) => {
    const filter = { seriesId: job.id, states: ['running', 'waiting'] } as const
    const page = await engine.store.list(filter, { limit, cursor })
    return { items: sift(page.items.flatMap(openRun)), cursor: page.cursor }
  })
}

/** The run under way and those that were asked for and wait behind it. */
function openRuns(job: Job): RunView[] {
  const numbers = new Set(job.requests.map(request => request.run))
  if (job.state === 'running') numbers.add(currentRunOf(job).run.run)
  return [...numbers]
    .filter(run => run > 0)
    .flatMap(run => runOf(job, run, []) ?? [])
    .filter(({ status }) => status === 'running' || status === 'queued')
    .map(run => runView(job, run))
}

/** The first of them: lists across jobs show one open run for each row. */
function openRun(job: Job): RunView[] {
  if (job.kind === 'task' && job.state === 'waiting') {
    const run = waitingTask(job)
    if (run) return [runView(job, run)]
  }
  const open = openRuns(job)
  return open.length === 0 ? [] : [open.find(({ status }) => status === 'running') ?? open[0]!]
}

const failing: readonly OutcomeKind[] = [
  'failed',
  'timedOut',
  'abandoned',
  'interrupted',
  'deferred',
  'released',
]
const outcomesBy: Readonly<Record<RunStatus, readonly OutcomeKind[]>> = {
  queued: [],
  running: [],
  retrying: failing,
  completed: ['succeeded'],
  failed: failing.filter(kind => kind !== 'interrupted'),
  cancelled: ['cancelled', 'interrupted'],
  skipped: ['skipped'],
}

function outcomesOf(asked: ReadonlySet<RunStatus>): OutcomeKind[] {
  return [...new Set([...asked].flatMap(status => outcomesBy[status]))]
}

const failures: readonly OutcomeKind[] = ['failed', 'timedOut', 'abandoned']

/** Those whose runs went on or will go on, each as it ended. */
async function retriedAttempts({ store }: Engine, attempts: readonly Attempt[]) {
  const jobs = await jobsOf(store, attempts)
  const rows: RunView[] = []
  for (const attempt of attempts) {
    const job = jobs.get(attempt.jobId)
    const run = job && runOf(job, attempt.run, [attempt])
    if (!job || !run) continue
    const isOpen = isRunOpen(job, attempt.run)
    if (!isOpen && (await isNewest(store, { job, run, attempt }))) continue
    const ended = { ...run, status: 'failed', finishedAt: attempt.finishedAt } as const
    rows.push(runView(job, ended))
  }
  return rows
}

/** One row for each run, at its newest attempt; open runs are told of elsewhere. */
export async function settledRuns(
  { store }: Engine,
  attempts: readonly Attempt[],
): Promise<RunView[]> {
  const ids = [...new Set(attempts.map(({ jobId }) => jobId))]
  const jobs = new Map((await store.get(ids)).map(job => [job.id, job]))
  const found: (Known | null)[] = attempts.map(attempt => {
    const job = jobs.get(attempt.jobId)
    const run = job && runOf(job, attempt.run, [attempt])
    const isOpen = run?.status === 'running' || run?.status === 'queued'
    return job && run && !isOpen ? { job, run, attempt } : null
  })
  const kept: RunView[] = []
  const known = found.filter(one => one !== null)
  for (let at = 0; at < known.length; at += LOOKED_AT_ONCE) {
    const bite = known.slice(at, at + LOOKED_AT_ONCE)
    const isLast = await Promise.all(bite.map(one => isNewest(store, one)))
    bite.forEach(({ job, run }, i) => {
      if (isLast[i]) kept.push(runView(job, run))
    })
  }
  return kept
}

const LOOKED_AT_ONCE = 10

interface Known {
  readonly job: Job
  readonly run: Run
  readonly attempt: Attempt
}

/** Success, cancelling and skipping end a run; anything else may have been followed by a try. */
async function isNewest(store: Engine['store'], { job, attempt }: Known): Promise<boolean> {
  if (!failing.includes(attempt.outcome) || attempt.number >= job.counters.attempts) return true
  const filter = { jobId: job.id, run: attempt.run }
  const { items } = await store.attempts(filter, { limit: 1, newestFirst: true })
  return items[0] === undefined || items[0].number === attempt.number
}
