// What a decision asks the store to write: all of it or nothing.

import type { Attempt } from './attempt.ts'
import { inEpochOf, nextEpoch } from './clock/clock-epoch.ts'
import { incidentRecord, type Decision } from './alerts/incident.ts'
import { draftOf, type Draft, type Job } from './job.ts'
import type { Skip } from './history/ledger.ts'
import { releasedHistory } from './history/payload-history.ts'
import type { RecordWrite } from './record.ts'
import { withHistory } from './spec.ts'
import { isAheadOfClock, type Instant } from './time.ts'

export interface Change {
  /** The job as it shall be; its version is one more than the expected one. */
  readonly job: Job
  readonly expectedVersion: number
  /** The lease the writer holds, or null when it writes without one. */
  readonly token: string | null
  readonly specChanged: boolean
  readonly attempt: Attempt | null
  readonly inserts: readonly Job[]
  readonly skips: readonly Skip[]
  readonly records: readonly RecordWrite[]
  /** An older attempt that may go now: beyond the kept number, if finished before the moment. */
  readonly drop: { readonly number: number; readonly finishedBefore: Instant } | null
  /** What handlers left for the next attempt is over with the run. */
  readonly clearsCheckpoint: boolean
}

/** A job that goes, if it is still as it was read. */
export interface Removal {
  readonly id: string
  readonly expectedVersion: number
}

export interface ChangeParts {
  readonly token?: string | null
  readonly specChanged?: boolean
  readonly attempt?: Attempt | null
  readonly inserts?: readonly Job[]
  readonly skips?: readonly Skip[]
  readonly records?: readonly RecordWrite[]
  readonly drop?: Change['drop']
  readonly clearsCheckpoint?: boolean
}

/** Steps the version and sums the skips into the job's totals. */
export function change(before: Job, after: Job, now: Instant, parts: ChangeParts = {}): Change {
  return changeIn(before, draftOf(after), now, parts)
}

/** The same for a draft, which becomes the job of the change. */
export function changeIn(before: Job, after: Draft, now: Instant, parts: ChangeParts): Change {
  const skips = parts.skips ?? none
  let skipped = 0
  for (const skip of skips) skipped += skip.count
  if (skipped > 0) after.totals = { ...after.totals, skipped: after.totals.skipped + skipped }
  if (isRewound(before, after, now)) after.clockEpoch = nextEpoch(before)
  after.updatedAt = now
  after.version = before.version + 1
  const { attempt = null, inserts = none } = parts
  const decision = { before, after, attempt, skips }
  const given = parts.records ?? none
  const records = isUneventful(decision) ? given : withIncident(given, decision, now)
  const decisions = { attempt, inserts, skips, records }
  const inEpoch = before.clockEpoch === 0 ? decisions : inEpochOf(before, decisions)
  // Every field by name: copying objects together costs more, and every run comes through here.
  return {
    job: after,
    expectedVersion: before.version,
    token: parts.token ?? null,
    specChanged: releasePayloads(after, now) || (parts.specChanged ?? false),
    attempt: inEpoch.attempt,
    inserts: inEpoch.inserts,
    skips: inEpoch.skips,
    records: inEpoch.records,
    drop: parts.drop ?? null,
    clearsCheckpoint: parts.clearsCheckpoint ?? false,
  }
}

/** Payloads that no kept run points to any more go with the next write of their job. */
function releasePayloads(after: Draft, now: Instant): boolean {
  if (after.spec.payloadHistory === undefined) return false
  const history = releasedHistory(after, now)
  if (history === null) return false
  after.spec = withHistory(after.spec, history)
  return true
}

/** The cursor of a job that a later clock wrote goes back: its times come again. */
function isRewound(before: Job, after: Draft, now: Instant): boolean {
  if (before.nextAt === null || after.nextAt === null || after.nextAt >= before.nextAt) return false
  return after.clockEpoch === before.clockEpoch && isAheadOfClock(before.updatedAt, now)
}

/** One success after another tells nobody anything: almost every decision. */
function isUneventful({ before, attempt, skips }: Decision): boolean {
  if (attempt?.outcome !== 'succeeded' || skips.length > 0) return false
  return before.last === null || before.last.outcome === 'succeeded'
}

/** Hardly any other decision is an incident: the records stay the same object. */
function withIncident(
  records: readonly RecordWrite[],
  decision: Decision,
  now: Instant,
): readonly RecordWrite[] {
  const incident = incidentRecord(decision, now)
  return incident === null ? records : [...records, incident]
}

const none: readonly never[] = []
