// Incidents: what a decision about a job finds worth telling people. Each is a record written in the
// same step as the decision, so that none is lost with its process; episodes are made from them.

import { workflowIdOf } from '../spec/action-name.ts'
import { isSetAside } from '../run/crash.ts'
import type { Attempt, OutcomeKind } from '../attempt.ts'
import type { EndReason, Job } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import type { RecordWrite, StoredRecord } from '../record.ts'
import { DAY, type Instant, type Millis } from '../time.ts'

/** Records of this kind are incidents that nobody has told of yet, under the attempt's id. */
export const INCIDENT_KIND = 'incident'
/** One that no node took up meanwhile is not news any more. */
const INCIDENT_KEPT_MS: Millis = DAY
const ERROR_LENGTH = 500

/** From the mildest to the gravest. */
export const failureGrades = ['first_failure', 'run_failed', 'job_ended'] as const
export type FailureGrade = (typeof failureGrades)[number]
export type IncidentCode = FailureGrade | 'run_missing' | 'recovered'

/** A job, a workflow run without one, or everything else that tasks without a job do with one handler. */
export interface IncidentSubject {
  readonly kind: 'job' | 'workflow' | 'definition'
  /** Of the job; of others the tenant, then the number of the workflow or the handler. */
  readonly id: string
  readonly name: string
  readonly tenant: string
}

export interface Incident {
  readonly code: IncidentCode
  readonly subject: IncidentSubject
  readonly at: Instant
  /** The error's message, or how many runs are missing. */
  readonly detail: string
  /** When it is tried or runs next, as far as is known. */
  readonly nextAt: Instant | null
}

/** What is decided about a job, and what it was before. */
export interface Decision {
  readonly before: Job
  readonly after: Job
  readonly attempt: Attempt | null
  readonly skips: readonly Skip[]
}

/** Null for almost every decision: nothing changed for the worse or the better. */
export function incidentRecord(decision: Decision, now: Instant): RecordWrite | null {
  const code = codeOf(decision)
  if (code === null) return null
  const { after, attempt } = decision
  const incident: Incident = {
    code,
    subject: subjectOf(after),
    at: now,
    detail: detailOf(code, decision).slice(0, ERROR_LENGTH),
    nextAt: after.dueAt,
  }
  return {
    kind: INCIDENT_KIND,
    key: attempt?.id ?? `${after.id} ${code} ${now}`,
    value: { ...incident, subject: { ...incident.subject } },
    expectedVersion: null,
    expireAt: now + INCIDENT_KEPT_MS,
  }
}

function codeOf({ before, after, attempt, skips }: Decision): IncidentCode | null {
  const { ended } = after
  const isJob = after.kind === 'job'
  // A job that a store found damaged is read as ended before that is written.
  const isEnding = ended !== null && (before.ended === null || ended.reason === 'damaged')
  if (isJob && isEnding && failingEnds.has(ended.reason)) return 'job_ended'
  if (skips.some(({ reason }) => reason === 'missed')) return 'run_missing'
  if (attempt === null) return null
  const hadFailed = before.last !== null && failures.has(before.last.outcome)
  if (attempt.outcome === 'succeeded') return isJob && hadFailed ? 'recovered' : null
  if (!failures.has(attempt.outcome)) return null
  if (isRunOver(after, attempt)) return 'run_failed'
  // A process that died says nothing about the job, until it did so again and again.
  if (attempt.outcome === 'abandoned') return isSetAside(after) ? 'run_failed' : null
  return hadFailed ? null : 'first_failure'
}

const failures: ReadonlySet<OutcomeKind> = new Set(['failed', 'timedOut', 'abandoned'])
const failingEnds: ReadonlySet<EndReason> = new Set([
  'exhausted',
  'final',
  'crash_loop',
  'missed',
  'invalid',
  'damaged',
])

/** Neither the schedule nor a request tries this run again. */
function isRunOver({ retryAt, current, requests }: Job, { run }: Attempt): boolean {
  if (retryAt !== null && current.run === run) return false
  return requests.length === 0 || !requests.some(request => request.run === run)
}

function detailOf(code: IncidentCode, { after, attempt, skips }: Decision): string {
  switch (code) {
    case 'job_ended':
      return after.lastError?.message ?? after.ended!.reason
    case 'run_missing':
      return String(
        skips.reduce((sum, { reason, count }) => sum + (reason === 'missed' ? count : 0), 0),
      )
    case 'first_failure':
    case 'run_failed':
      return attempt?.error?.message ?? attempt?.outcome ?? ''
    case 'recovered':
      return ''
  }
}

/** Tasks of a series are runs of its job; others are judged by what they run. */
export function subjectOf({ kind, id, seriesId, spec }: Job): IncidentSubject {
  const { name, tenant, handler } = spec
  const jobId = kind === 'job' ? id : seriesId
  if (jobId !== null) return { kind: 'job', id: jobId, name, tenant }
  const workflow = workflowIdOf(spec)
  if (workflow !== null) return { kind: 'workflow', id: `${tenant} ${workflow}`, name, tenant }
  return { kind: 'definition', id: `${tenant} ${handler}`, name: handler, tenant }
}

export function readIncident({ value }: StoredRecord): Incident {
  return value as unknown as Incident
}
