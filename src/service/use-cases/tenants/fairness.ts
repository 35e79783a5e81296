// What each tenant wanted, what it got and how long it waited, over the last
// minutes. It reads the newest attempts only, and says since when it is complete.

import { z } from 'zod'
import type { Attempt } from '../../../core/attempt.ts'
import { limits } from '../../../core/limits.ts'
import { iso, MINUTE, type Millis } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { scopeOf } from '../../auth/principal.ts'
import { quantiles } from '../jobs/history.ts'
import { newestAttempts } from '../runs/newest.ts'
import { useCase } from '../call/use-case.ts'

const READ_MAX = 1_000
const WAITING_MAX = 1_000
const SHOWN_MAX = 100
const count = z.int().nonnegative()
const share = z.number().min(0).max(1)
const at = z.iso.datetime()

export const fairnessQuery = z.object({
  minutes: z.coerce.number().int().min(1).max(1_440).default(60),
})

export const fairnessAnswer = z
  .strictObject({
    from: at,
    to: at,
    complete_since: at.meta({ description: 'Nothing is left out after this moment.' }),
    index: share
      .nullable()
      .meta({ description: "Jain's, over served by wanted: 1 is even; null without demand." }),
    is_cut: z.boolean().meta({ description: 'More waits, or more tenants are, than was read.' }),
    tenants: z.array(
      z.strictObject({
        tenant: z.string(),
        served: count.meta({ description: 'Attempts that started.' }),
        served_ms: count.meta({ description: 'How long they worked in all.' }),
        failed: count,
        waiting: count.meta({ description: 'Due now and not yet claimed.' }),
        demand_share: share.meta({ description: 'Of what was served or waits.' }),
        served_share: share.meta({ description: 'Of what was served.' }),
        wait_p50_ms: z.int().nullable(),
        wait_p95_ms: z.int().nullable(),
        oldest_wait_ms: count,
      }),
    ),
  })
  .meta({ id: 'Fairness' })

type Shown = z.output<typeof fairnessAnswer>['tenants'][number]

export const measureFairness = useCase({
  access: 'viewer',
  query: fairnessQuery,
  result: fairnessAnswer,
  handle: call => fairnessOf(call.engine, call.query.minutes * MINUTE, scopeOf(call.caller)),
})

interface Tally {
  readonly waits: Millis[]
  served: number
  servedMs: Millis
  failed: number
  waiting: number
  oldestMs: Millis
}

export async function fairnessOf(engine: Engine, spanMs: Millis, scope: { tenant?: string }) {
  const now = engine.clock.now()
  const from = now - spanMs
  const tallies = new Map<string, Tally>()
  const { attempts, isCut } = await newestAttempts(
    engine.store,
    { ...scope, since: from },
    READ_MAX,
  )
  const since = attempts.reduce((least, { finishedAt }) => Math.min(least, finishedAt), now)
  const tenants = await tenantsOf(engine, attempts)
  for (const attempt of attempts) {
    const tenant = tenants.get(attempt.jobId)
    if (tenant !== undefined) addServed(tallyOf(tallies, tenant), attempt)
  }
  const due = await engine.store.upcoming({ ...scope, from: 0, until: now, limit: WAITING_MAX })
  for (const { spec, dueAt } of due) {
    const tally = tallyOf(tallies, spec.tenant)
    tally.waiting++
    tally.oldestMs = Math.max(tally.oldestMs, now - (dueAt ?? now))
  }
  const shown = sharesOf(tallies)
  return {
    from: iso(from),
    to: iso(now),
    complete_since: iso(isCut ? Math.max(from, since) : from),
    index: jain(shown.map(one => one.served / (one.served + one.waiting))),
    is_cut: due.length >= WAITING_MAX || shown.length > SHOWN_MAX,
    tenants: shown.slice(0, SHOWN_MAX),
  }
}

async function tenantsOf({ store }: Engine, attempts: readonly Attempt[]) {
  const ids = [...new Set(attempts.map(({ jobId }) => jobId))]
  const found = new Map<string, string>()
  for (let i = 0; i < ids.length; i += limits.pageMax) {
    for (const { id, spec } of await store.get(ids.slice(i, i + limits.pageMax))) {
      found.set(id, spec.tenant)
    }
  }
  return found
}

function tallyOf(tallies: Map<string, Tally>, tenant: string): Tally {
  const held = tallies.get(tenant)
  if (held) return held
  const made = { waits: [], served: 0, servedMs: 0, failed: 0, waiting: 0, oldestMs: 0 }
  tallies.set(tenant, made)
  return made
}

function addServed(tally: Tally, attempt: Attempt): void {
  const { outcome, origin, occurrence, claimedAt, startedAt, finishedAt } = attempt
  tally.served++
  tally.servedMs += finishedAt - startedAt
  if (outcome === 'failed' || outcome === 'timedOut' || outcome === 'abandoned') tally.failed++
  // Of later attempts, and of runs asked for anew, the moment they were wanted is not kept.
  if (attempt.attempt === 1 && (origin === 'schedule' || origin === 'manual')) {
    tally.waits.push(Math.max(0, claimedAt - occurrence))
  }
}

/** The longest wait first: whoever is kept waiting is seen first. */
function sharesOf(tallies: ReadonlyMap<string, Tally>): Shown[] {
  const all = [...tallies.values()]
  const served = all.reduce((sum, one) => sum + one.served, 0)
  const wanted = all.reduce((sum, one) => sum + one.served + one.waiting, 0)
  return [...tallies]
    .map(([tenant, tally]) => {
      const { p50_ms, p95_ms } = quantiles(tally.waits.sort((a, b) => a - b))
      return {
        tenant,
        served: tally.served,
        served_ms: tally.servedMs,
        failed: tally.failed,
        waiting: tally.waiting,
        demand_share: wanted === 0 ? 0 : (tally.served + tally.waiting) / wanted,
        served_share: served === 0 ? 0 : tally.served / served,
        wait_p50_ms: p50_ms,
        wait_p95_ms: p95_ms,
        oldest_wait_ms: tally.oldestMs,
      }
    })
    .sort((a, b) => b.oldest_wait_ms - a.oldest_wait_ms || b.served - a.served)
}

/** (Σx)² / (n·Σx²); null when nobody wanted anything. */
export function jain(shares: readonly number[]): number | null {
  if (shares.length === 0) return null
  const sum = shares.reduce((total, one) => total + one, 0)
  const squares = shares.reduce((total, one) => total + one * one, 0)
  return squares === 0 ? 0 : Math.min(1, (sum * sum) / (shares.length * squares))
}
