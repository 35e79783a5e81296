// `/api/v1/timeline`: past runs and coming moments between two moments, a row for each job.

import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import { HOUR, iso, type Instant } from '../../core/time.ts'
import type { AppParts, Request, Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { scopeOf, tenantPattern } from '../auth/principal.ts'
import { ahead, type Coming } from '../ahead/moments.ts'
import { windowOf, windowQuery } from '../ahead/window.ts'
import { executionStatuses } from '../executions/view.ts'
import { visibleJob } from '../jobs/scope.ts'
import { barsOf, concurrencyOf, type Bar } from './bars.ts'

const ROWS_MAX = 200
const COMING_MAX = 1_000

export const query = windowQuery.extend({
  job: z.string().min(1).max(400).optional(),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
})

const at = z.iso.datetime()
const rowSchema = z.strictObject({
  job_id: z.string(),
  job_name: z.string(),
  tenant: z.string(),
  expected_ms: z.number().nullable().meta({ description: 'How long its runs took on average.' }),
  runs: z.array(
    z.strictObject({
      run_id: z.string(),
      execution_id: z.string(),
      attempt: z.int(),
      status: z.enum(executionStatuses),
      scheduled_for: at,
      claimed_at: at,
      started_at: at,
      finished_at: at.nullable(),
      owner: z.string(),
    }),
  ),
  upcoming: z.array(z.strictObject({ at, is_estimate: z.boolean() })),
})

export const answer = z
  .strictObject({
    from: at,
    to: at,
    now: at,
    rows: z.array(rowSchema),
    concurrency: z.array(z.strictObject({ from: at, running: z.int() })),
    complete_until: at.meta({ description: 'Coming moments leave nothing out before it.' }),
    is_cut: z.boolean().meta({ description: 'There was more than is shown: ask for less time.' }),
  })
  .meta({ id: 'Timeline' })

type Row = z.output<typeof rowSchema>
type Query = z.output<typeof query>

export const timelineRoutes: Routes = (app, parts) => {
  app.route({
    method: 'GET',
    url: '/api/v1/timeline',
    config: { access: 'viewer' },
    schema: {
      tags: ['time'],
      summary: 'Past runs and coming moments between two moments, a row for each job',
      querystring: query,
      response: { 200: answer },
    },
    handler: request => timeline(request, parts, request.query),
  })
}

async function timeline(
  request: Request,
  parts: AppParts,
  { job, tenant, ...given }: Query,
): Promise<z.output<typeof answer>> {
  const { engine } = parts
  const now = engine.clock.now()
  const window = windowOf(given, { now, backMs: HOUR })
  if (job !== undefined) await visibleJob(request, parts, job)
  const asked = {
    ...(tenant === undefined ? {} : { tenant }),
    ...scopeOf(callerOf(request)),
    ...(job === undefined ? {} : { jobId: job }),
    ...window,
  }
  const { bars, rows: jobs, isCut } = await barsOf(engine, asked)
  const next =
    window.until > now
      ? await ahead(engine, { ...asked, max: COMING_MAX })
      : { moments: [], completeUntil: window.until }
  const { rows, isFull } = rowsOf(bars, jobs, next.moments)
  return {
    from: iso(window.from),
    to: iso(window.until),
    now: iso(now),
    rows,
    concurrency: concurrencyOf(bars, window, now),
    complete_until: iso(next.completeUntil),
    is_cut: isCut || isFull || next.completeUntil < window.until,
  }
}

function rowsOf(
  bars: readonly Bar[],
  jobs: ReadonlyMap<string, Job>,
  moments: readonly Coming[],
): { rows: Row[]; isFull: boolean } {
  const rows = new Map<string, Row>()
  let isFull = false
  const rowOf = (job: Job): Row | null => {
    const id = job.seriesId ?? job.id
    const held = rows.get(id)
    if (held) return held
    if (rows.size >= ROWS_MAX) {
      isFull = true
      return null
    }
    const { name, tenant } = job.spec
    const row: Row = {
      job_id: id,
      job_name: name,
      tenant,
      expected_ms: expectedOf(job),
      runs: [],
      upcoming: [],
    }
    rows.set(id, row)
    return row
  }
  for (const bar of bars) {
    const job = jobs.get(bar.jobId)
    if (job) rowOf(job)?.runs.push(barView(bar))
  }
  for (const { job, at: when, isEstimate } of moments) {
    rowOf(job)?.upcoming.push({ at: iso(when), is_estimate: isEstimate })
  }
  return { rows: [...rows.values()], isFull }
}

function expectedOf({ totals }: Job): number | null {
  const { succeeded, failed, cancelled, other, durationMs } = totals
  const settled = succeeded + failed + cancelled + other
  return settled === 0 ? null : durationMs / settled
}

const orNull = (moment: Instant | null) => (moment === null ? null : iso(moment))

function barView(bar: Bar): Row['runs'][number] {
  return {
    run_id: bar.runId,
    execution_id: bar.executionId,
    attempt: bar.attempt,
    status: bar.status,
    scheduled_for: iso(bar.scheduledFor),
    claimed_at: iso(bar.claimedAt),
    started_at: iso(bar.startedAt),
    finished_at: orNull(bar.finishedAt),
    owner: bar.owner,
  }
}
