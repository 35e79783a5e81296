// What must be true of a database whose processes were killed, whatever they were doing.

import { readFileSync } from 'node:fs'
import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import type { LedgerEntry } from '../../src/core/history/ledger.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import type { Page, PageRequest } from '../../src/store/port.ts'

export interface Acknowledged {
  readonly created: readonly string[]
  readonly outcomes: readonly { jobId: string; attemptId: string; outcome: string }[]
}

/** The last line may have been cut off by the kill. */
export function readAcknowledged(path: string): Acknowledged {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const words = lines.map(line => line.split(' '))
  return {
    created: words.filter(([kind]) => kind === 'created').map(([, id]) => id!),
    outcomes: words
      .filter(([kind]) => kind === 'outcome')
      .map(([, jobId, attemptId, , outcome]) => ({
        jobId: jobId!,
        attemptId: attemptId!,
        outcome: outcome!,
      })),
  }
}

export interface Findings {
  readonly lost: string[]
  readonly duplicates: string[]
  readonly violations: string[]
}

export async function readAll<T>(query: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await query({ limit: 250, cursor })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return items
}

export function isIntact(path: string): boolean {
  const db = openDatabase(path)
  try {
    return db.prepare('pragma integrity_check').get()?.[0] === 'ok'
  } finally {
    db.close()
  }
}

/** Everything in the store against everything that was acknowledged. */
export async function checkStore(path: string, acknowledged: Acknowledged): Promise<Findings> {
  const store = new SqliteStore({ path, clock: () => 0 })
  await store.open()
  try {
    const jobs = await readAll(page => store.list({}, page))
    const attempts = await readAll(page => store.attempts({}, page))
    const violations: string[] = []
    for (const job of jobs) {
      if (job.kind !== 'job' || job.spec.trigger.kind !== 'interval') continue
      const entries = await readAll(page => store.ledger(job.id, page))
      const tasks = jobs.filter(({ seriesId }) => seriesId === job.id)
      violations.push(...checkLedger(job, entries, tasks))
    }
    const byJob = groupByJob(attempts)
    for (const job of jobs) violations.push(...checkAttempts(job, byJob.get(job.id) ?? []))
    return {
      lost: lostOf(acknowledged, jobs, attempts),
      duplicates: duplicatesOf(acknowledged, attempts),
      violations,
    }
  } finally {
    await store.close()
  }
}

function groupByJob(attempts: readonly Attempt[]): Map<string, Attempt[]> {
  const byJob = new Map<string, Attempt[]>()
  for (const attempt of attempts) {
    const held = byJob.get(attempt.jobId) ?? []
    held.push(attempt)
    byJob.set(attempt.jobId, held)
  }
  return byJob
}

function lostOf(
  { created, outcomes }: Acknowledged,
  jobs: readonly Job[],
  attempts: readonly Attempt[],
): string[] {
  const ids = new Set(jobs.map(({ id }) => id))
  const stored = new Map(attempts.map(({ id, outcome }) => [id, outcome]))
  return [
    ...created.filter(id => !ids.has(id)).map(id => `job ${id} is gone`),
    ...outcomes
      .filter(({ attemptId, outcome }) => stored.get(attemptId) !== outcome)
      .map(one => `${one.outcome} of ${one.jobId} reads ${stored.get(one.attemptId) ?? 'gone'}`),
  ]
}

/** No attempt is accepted twice, and no run succeeds twice. */
function duplicatesOf({ outcomes }: Acknowledged, attempts: readonly Attempt[]): string[] {
  const found: string[] = []
  const seen = new Set<string>()
  const note = (key: string) => {
    if (seen.has(key)) found.push(key)
    seen.add(key)
  }
  for (const { attemptId } of outcomes) note(`acknowledged ${attemptId}`)
  for (const { id, jobId, run, outcome } of attempts) {
    note(`attempt ${id}`)
    if (outcome === 'succeeded') note(`success of ${jobId}.${run}`)
  }
  return found
}

/** Numbers of a job and tries of a run without gaps; fences that grow with them. */
export function checkAttempts(job: Job, attempts: readonly Attempt[]): string[] {
  const found: string[] = []
  const sorted = [...attempts].sort((a, b) => a.number - b.number)
  const tries = new Map<number, number>()
  const first = sorted[0]?.number ?? 1
  let fence = 0
  for (const [i, attempt] of sorted.entries()) {
    if (attempt.number !== first + i) found.push(`${job.id}: number ${attempt.number} after a gap`)
    if (attempt.fence <= fence) found.push(`${job.id}: fence ${attempt.fence} after ${fence}`)
    fence = attempt.fence
    const before = tries.get(attempt.run)
    const isNext = attempt.attempt === (before ?? 0) + 1
    if (!isNext && (before !== undefined || first === 1)) {
      found.push(`${job.id}: run ${attempt.run} has try ${attempt.attempt} after ${before ?? 0}`)
    }
    tries.set(attempt.run, attempt.attempt)
  }
  const open = job.state === 'running' ? 1 : 0
  const last = sorted.at(-1)?.number ?? 0
  if (sorted.length > 0 && job.counters.attempts !== last + open) {
    found.push(`${job.id}: counts ${job.counters.attempts} attempts, the last is ${last}`)
  }
  return found
}

/** Every moment of the grid from the first decision to the last has exactly one. */
export function checkLedger(
  job: Job,
  entries: readonly LedgerEntry[],
  tasks: readonly Job[],
): string[] {
  const { trigger } = job.spec
  if (trigger.kind !== 'interval') return []
  const moments = tasks.map(({ spec }) => (spec.trigger.kind === 'once' ? spec.trigger.at : 0))
  const spans = [
    ...entries.map(({ from, to, count }) => ({ from, to, count })),
    ...moments.map(at => ({ from: at, to: at, count: 1 })),
  ].sort((a, b) => a.from - b.from)
  const found: string[] = []
  for (const [i, { from, to, count }] of spans.entries()) {
    const size = (to - from) / trigger.everyMs + 1
    if (size !== count) found.push(`${job.id}: ${from}..${to} counts ${count}, not ${size}`)
    const next = spans[i + 1]
    if (!next) continue
    if (next.from <= to) found.push(`${job.id}: ${next.from} is decided twice`)
    else if (next.from !== to + trigger.everyMs) {
      found.push(`${job.id}: nothing decided between ${to} and ${next.from}`)
    }
  }
  return found
}
