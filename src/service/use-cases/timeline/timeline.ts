// Past runs and coming starts between two moments, in rows.

import { z } from 'zod'
import { HOUR, iso, type Instant } from '../../../core/time.ts'
import type { Window } from '../../../core/schedule/coming.ts'
import type { Engine } from '../../../create-engine.ts'
import { ahead, type Ahead } from '../upcoming/fire-times.ts'
import { bucketsOf } from '../upcoming/view.ts'
import { windowOf, windowQuery } from '../upcoming/window.ts'
import { scopeOf, tenantPattern } from '../../auth/principal.ts'
import { visibleJob } from '../jobs/scope.ts'
import { jobsOf, readHistory, sumsOf, type History } from '../runs/history.ts'
import { BARS_MAX, concurrencyOf, readLive, settledBar } from './bars.ts'
import { groupings, PARTS, Rows } from './rows.ts'
import { answer } from './view.ts'
import type { Call } from '../call/call.ts'
import { useCase } from '../call/use-case.ts'

const COMING_MAX = 1_000

export const query = windowQuery.extend({
  job: z.string().min(1).max(400).optional(),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
  by: z.enum(groupings).default('job').meta({ description: 'What has a row of its own.' }),
})

type Query = z.output<typeof query>

export const readTimeline = useCase({
  access: 'viewer',
  query,
  result: answer,
  handle: call => timeline(call, call.query),
})

async function timeline(
  call: Call,
  { job, tenant, by, ...given }: Query,
): Promise<z.output<typeof answer>> {
  const { engine } = call
  const now = engine.clock.now()
  const window = windowOf(given, { now, backMs: HOUR })
  if (job !== undefined) await visibleJob(call, job)
  const scope = { ...(tenant === undefined ? {} : { tenant }), ...scopeOf(call.caller) }
  const history = await pastOf(engine, scope, job, window)
  const live = window.until > now ? await readLive(engine, scope, job) : noLive
  const asked = { ...scope, ...(job === undefined ? {} : { jobId: job }), ...window }
  const next = window.until > now ? await ahead(engine, { ...asked, max: COMING_MAX }) : null
  const starts = next?.buckets.counts.reduce((sum, count) => sum + count, 0) ?? 0
  const isSummed = history.attempts.length > BARS_MAX
  const known = await jobsOf(engine.store, history.attempts)
  const rows = new Rows({
    by,
    window,
    jobs: new Map([...known, ...live.jobs.map(one => [one.id, one] as const)]),
    attempts: history.attempts,
    bars: [...live.bars, ...(isSummed ? [] : history.attempts.map(settledBar))],
    isSummed,
    comingJobs: next?.jobs ?? [],
    moments: starts > COMING_MAX ? null : (next?.moments ?? []),
    now,
  })
  const { completed, failed, cancelled, skipped, retried } = sumsOf(history.attempts)
  const completeUntil = next?.completeUntil ?? window.until
  return {
    from: iso(window.from),
    to: iso(window.until),
    now: iso(now),
    part_ms: Math.max(1, Math.ceil((window.until - window.from) / PARTS)),
    rows: rows.view(),
    rows_total: rows.total,
    completed,
    failed,
    cancelled: cancelled + skipped,
    retried,
    starts,
    concurrency: concurrencyOf([...live.bars, ...history.attempts], window, {
      from: history.completeSince,
      until: now,
    }),
    coming: comingOf(next),
    complete_since: iso(history.completeSince),
    complete_until: iso(completeUntil),
    is_cut: live.isCut || history.completeSince > window.from || completeUntil < window.until,
  }
}

function comingOf(next: Ahead | null) {
  return next === null ? [] : bucketsOf(next.buckets).filter(({ count }) => count > 0)
}

const noLive: Awaited<ReturnType<typeof readLive>> = { jobs: [], bars: [], isCut: false }

type Scope = { readonly tenant?: string }

/** Of one job, its own attempts and those of its tasks. */
// oxlint-disable-next-line max-params -- where, of whom, of which job, when
async function pastOf(
  engine: Engine,
  scope: Scope,
  job: string | undefined,
  { from, until }: Window,
): Promise<History> {
  // What has not begun yet has no past.
  if (from > engine.clock.now()) return { attempts: [], completeSince: from }
  const past = { ...scope, since: from, until }
  if (job === undefined) return readHistory(engine, past)
  const own = await readHistory(engine, { ...past, jobId: job })
  const hasTasks = (await engine.store.list({ seriesId: job }, { limit: 1 })).items.length > 0
  if (!hasTasks) return own
  const tasks = await readHistory(engine, { ...past, seriesId: job })
  const completeSince: Instant = Math.max(own.completeSince, tasks.completeSince)
  return { attempts: [...own.attempts, ...tasks.attempts], completeSince }
}
