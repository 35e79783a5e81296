// Which payload an attempt got, and how long payloads are kept: each content once, bounded, and until
// retention drops the last attempt that points to it.

import { payloadGiven } from '../spec/action-name.ts'
import type { Attempt } from '../attempt.ts'
import { jsonBytes, jsonEqual, type Json } from '../json.ts'
import type { Job, RunRequest } from '../job.ts'
import type { KeptPayload, PayloadHistory } from './kept-payload.ts'
import { limits } from '../limits.ts'
import type { CurrentRun } from '../run/current-run.ts'
import { withHistory, type JobSpec } from '../spec.ts'
import type { Instant } from '../time.ts'

/** A job is created at this revision. */
export const FIRST_REVISION = 1
const noHistory: PayloadHistory = { revision: FIRST_REVISION, since: 0, kept: [] }

/** The revision of the job that brought its present payload. */
export function payloadRevisionOf({ payloadHistory }: JobSpec): number {
  return payloadHistory === undefined ? FIRST_REVISION : payloadHistory.revision
}

/** The same for what the attempt under way got: an edit meanwhile does not reach it. */
export function liveRevisionOf({ spec, lease }: Job): number {
  const { live } = spec.payloadHistory ?? noHistory
  const isLive = live !== undefined && live.attemptId === lease?.attemptId
  return isLive ? live.revision : payloadRevisionOf(spec)
}

/** Null when it got a payload that was given to its run. */
export function attemptRevisionOf({ payload }: Pick<Attempt, 'payload'>): number | null {
  if (payload === undefined) return FIRST_REVISION
  return payload.in === 'spec' ? payload.revision : null
}

/**
 * The spec an edit leaves. What the caller gives as history does not count. `isLive`: an attempt is
 * under way that has the payload from before.
 */
export function specAfterEdit(
  before: Job,
  spec: JobSpec,
  { now, isLive }: { readonly now: Instant; readonly isLive: boolean },
): JobSpec {
  const held = before.spec.payloadHistory
  const keepsNone = spec.retention.payloads === false
  const isSame = jsonEqual(payloadGiven(before.spec), payloadGiven(spec))
  const edited = isSame ? held : replaced(before, { now, isLive })
  const isCleared = keepsNone && edited !== undefined && edited.kept.length > 0
  return withHistory(spec, isCleared ? { ...edited, kept: [] } : edited)
}

function replaced(
  before: Job,
  { now, isLive }: { readonly now: Instant; readonly isLive: boolean },
): PayloadHistory {
  const { spec, counters, lease, revision } = before
  const held = spec.payloadHistory ?? noHistory
  const next = { revision: revision + 1, since: counters.attempts }
  // What a damaged record had is not known.
  const isUnknown = before.ended?.reason === 'damaged'
  const wasUsed = counters.attempts > held.since && !isUnknown
  const old = { revisions: [held.revision], number: counters.attempts, at: now }
  const kept = wasUsed ? withContent(held.kept, payloadGiven(spec), old) : held.kept
  if (!isLive) return { ...next, kept }
  const live = { attemptId: lease!.attemptId, revision: liveRevisionOf(before) }
  return { ...next, live, kept }
}

/**
 * Retries of old runs that wait for their start go on with the payload of those runs, which until the
 * edit was that of the job.
 */
export function pinnedRequests(before: Job, after: JobSpec): readonly RunRequest[] {
  const { requests, spec } = before
  if (payloadRevisionOf(spec) === payloadRevisionOf(after)) return requests
  if (!requests.some(isUnpinned)) return requests
  const payload = payloadGiven(spec)
  return requests.map(request => (isUnpinned(request) ? { ...request, payload } : request))
}

function isUnpinned({ kind, payload }: RunRequest): boolean {
  return kind === 'retry' && payload === undefined
}

type Use = Pick<KeptPayload, 'number' | 'at'>
type Content = Use & Partial<Pick<KeptPayload, 'revisions' | 'given'>>

/** With another use of this content, as the last one. */
function withUse(
  kept: readonly KeptPayload[],
  value: Json,
  content: Content,
): readonly KeptPayload[] {
  const held = kept.find(one => jsonEqual(one.value, value))
  const given = held?.given ?? content.given
  const next: KeptPayload = {
    value: held?.value ?? value,
    revisions: [...(held?.revisions ?? []), ...(content.revisions ?? [])],
    ...(given === undefined ? {} : { given }),
    number: content.number,
    at: content.at,
  }
  return [...kept.filter(one => one !== held), next]
}

/** Makes room: the oldest payload of an edit goes first, one that a run was given never. */
function withContent(
  kept: readonly KeptPayload[],
  value: Json,
  content: Content,
): readonly KeptPayload[] {
  let all = withUse(kept, value, content)
  while (isOver(all)) {
    const oldest = all.find(one => one.given === undefined)
    if (oldest === undefined) return kept
    all = all.filter(one => one !== oldest)
  }
  return all
}

function isOver(kept: readonly KeptPayload[]): boolean {
  if (kept.length > limits.payloadsKept) return true
  const bytes = kept.reduce((sum, { value }) => sum + (jsonBytes(value) ?? 0), 0)
  return bytes > limits.payloadsKeptBytes
}

export interface AttemptPayload {
  /** Of the attempt; absent when it got the payload the job was created with. */
  readonly own: Pick<Attempt, 'payload'>
  /** Of the job from then on. */
  readonly history: PayloadHistory | undefined
}

const none: Pick<Attempt, 'payload'> = {}

/** What is written of the payload of an attempt that ends now. */
export function attemptPayload(job: Job, current: CurrentRun, now: Instant): AttemptPayload {
  const { request } = current
  const history = job.spec.payloadHistory
  if (request?.payload !== undefined) return givenPayload(job, current, now)
  if (history === undefined) return { own: none, history }
  const revision = liveRevisionOf(job)
  const own: Pick<Attempt, 'payload'> =
    revision === FIRST_REVISION ? none : { payload: { in: 'spec', revision } }
  return { own, history: afterLive(job, history, now) }
}

/** The attempt that an edit found under way is over: it is the last one with its payload. */
function afterLive(job: Job, history: PayloadHistory, now: Instant): PayloadHistory {
  const { live, ...rest } = history
  if (live === undefined || live.attemptId !== job.lease?.attemptId) return history
  const kept = history.kept.map(one =>
    one.revisions.includes(live.revision) ? { ...one, at: now } : one,
  )
  return { ...rest, kept }
}

function givenPayload(job: Job, { request, run }: CurrentRun, now: Instant): AttemptPayload {
  const { spec, counters } = job
  const history = spec.payloadHistory
  if (spec.retention.payloads === false) return { own: { payload: { in: 'off' } }, history }
  const value = request!.payload!
  const number = counters.attempts
  const held = history ?? noHistory
  const all = withUse(held.kept, value, { given: number, number, at: now })
  if (isOver(all) && all.length > held.kept.length) {
    // No room among the shared ones: a copy of its own, with the first attempt of the run.
    const isFirst = run.attempt === 0 || request!.kind === 'retry'
    return { own: { payload: isFirst ? { in: 'here', value } : { in: 'first' } }, history }
  }
  const { given } = all.at(-1)!
  return { own: { payload: { in: 'job', given: given! } }, history: { ...held, kept: all } }
}

/** Null when nothing went; undefined when nothing is left to keep. */
export function releasedHistory(job: Job, now: Instant): PayloadHistory | undefined | null {
  const history = job.spec.payloadHistory!
  const { attempts, ageMs } = job.spec.retention
  const oldest = job.counters.attempts - attempts
  const kept = history.kept.filter(({ number, at }) => number > oldest || at > now - ageMs)
  if (kept.length === history.kept.length) return null
  const isFirst = history.revision === FIRST_REVISION && history.live === undefined
  return kept.length === 0 && isFirst ? undefined : { ...history, kept }
}
