// Episodes: from the first failure of a job to its recovery, and from a run that is missing to the
// next one that starts. Each is told once when it begins, once when it gets worse, once when it ends.

import {
  failureGrades,
  type FailureGrade,
  type Incident,
  type IncidentSubject,
} from './incident.ts'
import { shown } from '../errors.ts'
import type { RecordWrite, StoredRecord } from '../record.ts'
import { DAY, formatDuration, HOUR, iso, MINUTE, type Instant, type Millis } from '../time.ts'

export const EPISODE_KIND = 'episode'
export const MISSING_KIND = 'missing-run'

/** Of a job, a workflow or a definition; the record's key names it. */
export interface Episode {
  readonly id: string
  readonly subject: IncidentSubject
  readonly since: Instant
  readonly code: FailureGrade | 'run_missing'
  /** When it last failed, or when the missing run was due. */
  readonly failedAt: Instant
  readonly detail: string
  /** How many began within an hour of the end of the one before. */
  readonly openings: number
  readonly closedAt: Instant | null
}

/** What people are told. */
export interface JobAlert {
  readonly id: string
  readonly type: 'alert.raised' | 'alert.cleared'
  readonly condition: Episode['code']
  /** The same for all alerts of one episode. */
  readonly episode: string
  readonly message: string
  /** The error, or the reason of an end. */
  readonly detail: string
  readonly subject: IncidentSubject
  readonly at: Instant
  readonly raisedAt: Instant
}

/** What becomes of an episode, and what is to be told of it. */
export interface EpisodeStep {
  readonly episode: Episode | null
  readonly alerts: readonly JobAlert[]
}

/** A closed episode is remembered so long, to notice one that opens again and again. */
const REMEMBERED_MS: Millis = HOUR
/** From this opening on, an episode ends only after some time without a failure. */
const FLAPPING_FROM = 4
const QUIET_MS: Millis = 10 * MINUTE
/** Tasks and workflows that nobody asks for any more neither fail nor succeed. */
const DEFINITION_KEPT_MS: Millis = 7 * DAY

/** In place of a job's id: more jobs than are told one by one. */
export const EVERY_JOB = '*'

export function subjectKey({ kind, id }: IncidentSubject): string {
  return `${kind} ${id}`
}

/** Incidents of one subject, oldest first; the key of the first becomes the id of its episode. */
export function foldIncidents(
  held: Episode | null,
  incidents: readonly (Incident & { readonly key: string })[],
): EpisodeStep {
  let episode = held
  const alerts: JobAlert[] = []
  for (const incident of incidents) {
    const step = foldIncident(episode, incident)
    episode = step.episode
    alerts.push(...step.alerts)
  }
  return { episode, alerts }
}

function foldIncident(
  held: Episode | null,
  incident: Incident & { readonly key: string },
): EpisodeStep {
  const { code, at } = incident
  if (code === 'run_missing') return { episode: held, alerts: [] }
  if (code === 'recovered') return held === null ? unchanged(held) : succeeded(held, at)
  if (held === null || held.closedAt !== null) return opened(held, incident, code)
  const failedAt = Math.max(held.failedAt, at)
  if (rank(code) <= rank(held.code)) return unchanged({ ...held, failedAt })
  const worse = { ...held, code, failedAt, detail: incident.detail }
  return { episode: worse, alerts: [raised(worse, failureText(incident), at)] }
}

function unchanged(episode: Episode | null): EpisodeStep {
  return { episode, alerts: [] }
}

function rank(code: Episode['code']): number {
  return code === 'run_missing' ? 0 : failureGrades.indexOf(code)
}

function opened(
  before: Episode | null,
  incident: Incident & { readonly key: string },
  code: FailureGrade,
): EpisodeStep {
  const { subject, at, detail, key } = incident
  const isAgain = before?.closedAt != null && at - before.closedAt < REMEMBERED_MS
  const openings = isAgain ? before.openings + 1 : 1
  const episode: Episode = {
    id: key,
    subject,
    since: at,
    code,
    failedAt: at,
    detail,
    openings,
    closedAt: null,
  }
  return { episode, alerts: [raised(episode, failureText(incident), at)] }
}

/** It succeeded. One that keeps failing in between is told as over only when it stays so. */
export function succeeded(episode: Episode, at: Instant): EpisodeStep {
  if (episode.closedAt !== null || at < episode.failedAt) return unchanged(episode)
  if (episode.openings >= FLAPPING_FROM && at - episode.failedAt < QUIET_MS) {
    return unchanged(episode)
  }
  return over(episode, 'succeeded again', at)
}

function over(episode: Episode, what: string, at: Instant): EpisodeStep {
  const after = formatDuration(Math.max(0, at - episode.since))
  const message = `${titleOf(episode.subject)} ${what} after ${after}`
  const alert: JobAlert = { ...raised(episode, message, at), type: 'alert.cleared' }
  return { episode: { ...episode, closedAt: at }, alerts: [alert] }
}

function raised(episode: Episode, message: string, at: Instant): JobAlert {
  const { id, code, subject, since, detail } = episode
  return {
    id: `${id} ${code}`,
    type: 'alert.raised',
    condition: code,
    episode: id,
    message,
    detail,
    subject,
    at,
    raisedAt: since,
  }
}

function titleOf({ kind, name }: IncidentSubject): string {
  switch (kind) {
    case 'job':
      return shown(name)
    case 'workflow':
      return `a run of workflow ${shown(name)}`
    case 'definition':
      return `a task of ${shown(name)}`
  }
}

function failureText({ code, subject, detail, nextAt }: Incident): string {
  const title = titleOf(subject)
  const isJob = subject.kind === 'job'
  if (code === 'job_ended') return `${title} ended and does not run again: ${detail}`
  if (code === 'first_failure') {
    return `${title} failed: ${detail}; tried again${nextAt === null ? '' : ` at ${iso(nextAt)}`}`
  }
  const next = isJob && nextAt !== null ? `; next run at ${iso(nextAt)}` : ''
  return `${title} failed and is not tried again: ${detail}${next}`
}

/** A run that was due has not started, or was skipped because it came too late. */
export interface MissingRun {
  readonly subject: IncidentSubject
  readonly dueAt: Instant
  /** What it waits for, if anybody knows. */
  readonly waitsFor?: string | null
  /** More of them than are told one by one. */
  readonly others?: number
  /** So many were skipped, the last of them at this moment. */
  readonly skipped?: number
}

export function missing(run: MissingRun, now: Instant): EpisodeStep {
  const { subject, dueAt } = run
  const message = missingText(run)
  const episode: Episode = {
    id: `missing ${subjectKey(subject)} ${now}`,
    subject,
    since: now,
    code: 'run_missing',
    failedAt: dueAt,
    detail: message,
    openings: 1,
    closedAt: null,
  }
  return { episode, alerts: [raised(episode, message, now)] }
}

function missingText({ subject, dueAt, waitsFor, others, skipped }: MissingRun): string {
  const title = titleOf(subject)
  if (others !== undefined) {
    return `${others} more jobs are due and have not started, since ${iso(dueAt)}`
  }
  if (skipped === undefined) {
    const reason = waitsFor == null ? '' : `: it waits for ${waitsFor}`
    return `${title} was due at ${iso(dueAt)} and has not started${reason}`
  }
  const runs = skipped === 1 ? '1 run' : `${skipped} runs`
  return `${runs} of ${title} were skipped: too late when a node could start them`
}

export function started(episode: Episode, now: Instant): EpisodeStep {
  return over(episode, 'runs again', now)
}

export function readEpisode({ value }: StoredRecord): Episode {
  return value as unknown as Episode
}

/** Written only over the version that was read: one node makes each step. */
export function episodeWrite(
  key: string,
  episode: Episode,
  held: StoredRecord | undefined,
): RecordWrite {
  const { subject, failedAt, closedAt } = episode
  const openUntil = subject.kind !== 'job' ? failedAt + DEFINITION_KEPT_MS : null
  return {
    kind: EPISODE_KIND,
    key,
    value: { ...episode, subject: { ...subject } },
    expectedVersion: held?.version ?? 0,
    expireAt: closedAt === null ? openUntil : closedAt + REMEMBERED_MS,
  }
}
