// Runs that were due and have not started, also those of series, whose runs are tasks. Told one by one
// up to a number; what is beyond is one sentence with a count.

import {
  EVERY_JOB,
  MISSING_KIND,
  missing,
  readEpisode,
  started,
  type Episode,
  type JobAlert,
} from '../core/alerts/episode.ts'
import { subjectOf, type Incident, type IncidentSubject } from '../core/alerts/incident.ts'
import { shareOut } from '../core/alerts/tenant-shares.ts'
import { isEnded, type Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { removalOf, type RecordWrite, type StoredRecord } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import { undeclaredJobs } from '../jobs/declaration-records.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Events } from '../runtime/events.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import type { Store } from '../store/port.ts'
import { overduePermitWaits, overdueSince } from './permit-waits.ts'

export interface EpisodeParts {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  readonly settings: EngineSettings
}

/** Written together with what is told of it. */
export interface AlertStep {
  readonly records: readonly RecordWrite[]
  readonly alerts: readonly JobAlert[]
}

/** Jobs told one by one at a time, shared by tenants; with those of tenants below their share. */
const SHARES = { sharedMax: 20, allMax: 100 }
/** Pages of overdue rows looked at in one round. */
const PAGES_MAX = 4

const everyone: IncidentSubject = { kind: 'job', id: EVERY_JOB, name: '*', tenant: '*' }

interface Overdue {
  readonly subject: IncidentSubject
  readonly dueAt: Instant
  /** The host it waits for, if that is why. */
  readonly waitsFor: string | null
}

type Write = (step: AlertStep) => Promise<void>

/** Whether any row is overdue; whose it is and whether that is expected is another question. */
export async function hasOverdue({ store, clock, settings }: EpisodeParts): Promise<boolean> {
  const now = clock.now()
  const until = now - settings.missingMs
  if ((await store.upcoming({ from: 0, until, limit: 1 })).length > 0) return true
  return (await overduePermitWaits(store, { wantedBefore: until, now })).length > 0
}

/** Returns whether any run is missing or was until now. */
export async function checkMissing(parts: EpisodeParts, write: Write): Promise<boolean> {
  const { store, clock } = parts
  const now = clock.now()
  const page = await store.listRecords(MISSING_KIND, { limit: limits.pageMax }, now)
  const held = new Map(page.items.map(record => [record.key, record]))
  const overdue = await overdueJobs(parts, now)
  const fresh = [...overdue.values()].filter(({ subject }) => !held.has(subject.id))
  const told = page.items.filter(({ key }) => key !== everyone.id)
  const tenants = told.map(record => readEpisode(record).subject.tenant)
  const { each, others } = shareOut(tenants, fresh, ({ subject }) => subject.tenant, SHARES)
  for (const one of each) {
    const { episode, alerts } = missing(one, now)
    await write({ records: [episodeRecord(one.subject.id, episode!, 0)], alerts })
  }
  await checkOthers({ parts, write, now }, held.get(everyone.id), others)
  await checkStarted({ parts, write, now }, page.items, overdue)
  return held.size + overdue.size > 0
}

/** Runs that a decision skipped because they came too late, unless that is told already. */
export async function skippedRuns(
  store: EpisodeParts['store'],
  incidents: readonly Incident[],
  now: Instant,
): Promise<AlertStep> {
  const skipped = incidents.filter(({ code }) => code === 'run_missing')
  const nothing = { records: [], alerts: [] }
  const last = skipped.at(-1)
  if (!last || last.subject.kind !== 'job') return nothing
  const { subject, at } = last
  const held = await store.getRecords(MISSING_KIND, [subject.id], now)
  if (held.length > 0) return nothing
  const count = skipped.reduce((sum, { detail }) => sum + Number(detail), 0)
  const { episode, alerts } = missing({ subject, dueAt: at, skipped: count }, now)
  return { records: [episodeRecord(subject.id, episode!, 0)], alerts }
}

interface Round {
  readonly parts: EpisodeParts
  readonly write: Write
  readonly now: Instant
}

/** Those beyond the number told one by one. */
async function checkOthers(
  { write, now }: Round,
  record: StoredRecord | undefined,
  others: readonly Overdue[],
): Promise<void> {
  const first = others[0]
  if (first && !record) {
    const dueAt = Math.min(...others.map(one => one.dueAt))
    const { episode, alerts } = missing({ subject: everyone, dueAt, others: others.length }, now)
    await write({ records: [episodeRecord(everyone.id, episode!, 0)], alerts })
  } else if (!first && record) {
    await write({ records: [removalOf(record)], alerts: started(readEpisode(record), now).alerts })
  }
}

/** An episode is over when a run starts; of one that is gone or was paused nothing is told. */
async function checkStarted(
  { parts: { store }, write, now }: Round,
  records: readonly StoredRecord[],
  overdue: ReadonlyMap<string, Overdue>,
): Promise<void> {
  const left = records.filter(({ key }) => key !== everyone.id && !overdue.has(key))
  if (left.length === 0) return
  const jobs = new Map((await store.get(left.map(({ key }) => key))).map(job => [job.id, job]))
  for (const record of left) {
    const episode = readEpisode(record)
    const job = jobs.get(record.key)
    if (job && hasStarted(job, episode)) {
      await write({ records: [removalOf(record)], alerts: started(episode, now).alerts })
    } else if (!job || isEnded(job) || job.state === 'paused') {
      await write({ records: [removalOf(record)], alerts: [] })
    }
  }
}

function hasStarted({ last, lease }: Job, { failedAt }: Episode): boolean {
  if (lease !== null && lease.claimedAt >= failedAt) return true
  return last !== null && last.startedAt >= failedAt
}

/** By job. Queues that people paused are left out, and what no node declares any more. */
async function overdueJobs(parts: EpisodeParts, now: Instant): Promise<Map<string, Overdue>> {
  const { store, settings } = parts
  const until = now - settings.missingMs
  const found = new Map<string, Overdue>()
  let from = 0
  for (let page = 0; page < PAGES_MAX; page++) {
    const rows = await store.upcoming({ from, until, limit: limits.pageMax })
    for (const job of rows) addOverdue(found, job, now)
    const last = rows.at(-1)?.dueAt
    if (rows.length < limits.pageMax || last == null || last === from) break
    from = last
  }
  const waiting = await overduePermitWaits(store, { wantedBefore: until, now })
  for (const job of waiting) addOverdue(found, job, now)
  if (found.size === 0) return found
  return withoutExpected(parts, found)
}

function addOverdue(found: Map<string, Overdue>, job: Job, now: Instant): void {
  const { spec } = job
  const dueAt = overdueSince(job)
  const subject = subjectOf(job)
  if (dueAt === null || subject.kind !== 'job' || now - dueAt <= spec.graceMs) return
  if (!found.has(subject.id))
    found.set(subject.id, { subject, dueAt, waitsFor: job.hold?.waitsFor?.name ?? null })
}

async function withoutExpected(
  parts: EpisodeParts,
  found: Map<string, Overdue>,
): Promise<Map<string, Overdue>> {
  const paused = new Set(await parts.store.pausedQueues())
  const undeclared = await undeclaredJobs(parts)
  if (paused.size > 0) {
    const jobs = await parts.store.get([...found.keys()])
    for (const { id, spec } of jobs) if (paused.has(spec.queue)) found.delete(id)
  }
  for (const id of undeclared) found.delete(id)
  return found
}

function episodeRecord(key: string, episode: Episode, expectedVersion: number): RecordWrite {
  const value = { ...episode, subject: { ...episode.subject } }
  return { kind: MISSING_KIND, key, value, expectedVersion, expireAt: null }
}
