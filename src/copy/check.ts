// Whether a store still holds what it held before a migration: every job with its next time, every
// count, every history. Jobs that have run since are told apart.

import type { EntryType } from '../core/stored/entry.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { iso, type Instant } from '../core/time.ts'
import { statusOf } from '../core/control/status.ts'
import type { Store } from '../store/port.ts'
import { pagesOf } from './pages.ts'
import { Summing, type Sums } from './sums.ts'

const BATCH = 500
/** Differences told one by one; all are counted. */
const TOLD_MAX = 100

const history = ['attempt', 'skip', 'log', 'pruned'] as const satisfies readonly EntryType[]

export interface MigrationCheck {
  readonly jobs: {
    readonly before: number
    readonly after: number
    /** Nothing about them changed but how they are told. */
    readonly same: number
    /** They ran, or were asked to, since: their next times and histories went on. */
    readonly went_on: number
    readonly differing: number
  }
  readonly history: Readonly<Record<string, { readonly before: number; readonly after: number }>>
  readonly differences: readonly CheckDifference[]
  readonly is_equal: boolean
}

export interface CheckDifference {
  /** A job, or a kind of history. */
  readonly of: string
  readonly field: string
  readonly before: string | number | null
  readonly after: string | number | null
}

export interface CheckOptions {
  readonly before: Store
  readonly after: Store
  readonly signal: AbortSignal
}

export async function checkMigration({
  before,
  after,
  signal,
}: CheckOptions): Promise<MigrationCheck> {
  const [was, is] = [await summed(before, signal), await summed(after, signal)]
  const found = new Differences()
  const tally = { same: 0, went_on: 0 }
  let cursor: string | null = null
  do {
    signal.throwIfAborted()
    const page: Awaited<ReturnType<Store['list']>> = await before.list(
      {},
      { limit: limits.pageMax, cursor },
    )
    const ids = page.items.map(({ id }) => id)
    const now = new Map((await after.get(ids)).map(job => [job.id, job]))
    for (const job of page.items) {
      const verdict = compare(job, now.get(job.id), found)
      if (verdict !== 'differs') tally[verdict]++
    }
    cursor = page.cursor
  } while (cursor !== null)
  const differing = found.count
  for (const type of history) compareHistory(type, { was, is, mayGrow: tally.went_on > 0 }, found)
  return {
    jobs: { before: was.job.count, after: is.job.count, ...tally, differing },
    history: Object.fromEntries(
      history.map(type => [type, { before: was[type].count, after: is[type].count }]),
    ),
    differences: found.told,
    is_equal: found.count === 0,
  }
}

class Differences {
  readonly told: CheckDifference[] = []
  count = 0

  add(difference: CheckDifference): void {
    this.count++
    if (this.told.length < TOLD_MAX) this.told.push(difference)
  }
}

async function summed(store: Store, signal: AbortSignal): Promise<Sums> {
  const sums = new Summing()
  for await (const _ of pagesOf(store, { batch: BATCH, sums, signal }));
  return sums.sums
}

function compare(
  before: Job,
  after: Job | undefined,
  found: Differences,
): 'same' | 'went_on' | 'differs' {
  const of = before.id
  if (after === undefined) {
    found.add({ of, field: 'job', before: before.spec.name, after: null })
    return 'differs'
  }
  if (after.counters.attempts > before.counters.attempts) return 'went_on'
  const fields = Object.entries(factsOf(before)) as [keyof Facts, string | number | null][]
  const now = factsOf(after)
  const changed = fields.find(([field, value]) => now[field] !== value)
  if (changed === undefined) return 'same'
  const [field, value] = changed
  found.add({ of, field, before: value, after: now[field] })
  return 'differs'
}

type Facts = ReturnType<typeof factsOf>

function factsOf(job: Job) {
  const { counters, totals } = job
  return {
    status: statusOf(job),
    next_run_at: momentOf(job.dueAt),
    next_occurrence_at: momentOf(job.nextAt),
    runs: counters.runs,
    attempts: counters.attempts,
    succeeded: totals.succeeded,
    failed: totals.failed,
  }
}

function momentOf(at: Instant | null): string | null {
  return at === null ? null : iso(at)
}

interface HistorySums {
  readonly was: Sums
  readonly is: Sums
  /** Some jobs ran since. */
  readonly mayGrow: boolean
}

function compareHistory(
  type: (typeof history)[number],
  { was, is, mayGrow }: HistorySums,
  found: Differences,
): void {
  const [before, after] = [was[type], is[type]]
  if (before.count === after.count && before.checksum === after.checksum) return
  if (mayGrow && after.count >= before.count) return
  const isCount = before.count !== after.count
  found.add({
    of: type,
    field: isCount ? 'count' : 'content',
    before: isCount ? before.count : before.checksum,
    after: isCount ? after.count : after.checksum,
  })
}
