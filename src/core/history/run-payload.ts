// What a run and each of its attempts got, as far as that is still kept.

import { payloadGiven } from '../spec/action-name.ts'
import type { Attempt } from '../attempt.ts'
import type { Job } from '../job.ts'
import type { Json } from '../json.ts'
import { FIRST_REVISION, liveRevisionOf, payloadRevisionOf } from './payload-history.ts'
import { currentRunOf } from '../run/current-run.ts'

/** Without the settings of an action. */
export interface RunPayload {
  /** Null as well when it is not kept. */
  readonly payload: Json
  /** Whose it is: given to the run, or that of its job; null when it is not kept. */
  readonly payloadOf: 'run' | 'job' | null
  /** The revision of the job that brought it; null when the run was given one of its own. */
  readonly payloadRevision: number | null
}

/** From this attempt on, until the next step. */
export interface PayloadStep extends RunPayload {
  readonly attempt: number
}

export interface RunPayloads extends RunPayload {
  /** One for each payload its attempts got, the live one included; most runs have one at most. */
  readonly payloads: readonly PayloadStep[]
}

/**
 * `attempts` are those of the run, oldest first. While the run is open, its payload is what it is given
 * now or next; afterwards what its last attempt got.
 */
export function payloadsOfRun(
  job: Job,
  run: number,
  attempts: readonly Attempt[],
  isOpen: boolean,
): RunPayloads {
  const steps: PayloadStep[] = []
  for (const attempt of attempts) addStep(steps, attempt.attempt, payloadOf(job, attempt, attempts))
  const open = isOpen || attempts.length === 0 ? openPayload(job, run) : null
  const live = open === null ? null : liveAttempt(job, run)
  if (live !== null) addStep(steps, live, open!)
  const { payload, payloadOf: of, payloadRevision } = open ?? steps.at(-1)!
  return { payload, payloadOf: of, payloadRevision, payloads: steps }
}

function addStep(steps: PayloadStep[], attempt: number, next: RunPayload): void {
  const last = steps.at(-1)
  const isSame =
    last !== undefined &&
    last.payloadRevision === next.payloadRevision &&
    last.payloadOf === next.payloadOf
  if (!isSame) steps.push({ attempt, ...next })
}

/** What a run that is under way or waits was or will be given. */
function openPayload(job: Job, run: number): RunPayload {
  const request = job.requests.find(held => held.run === run)
  if (request?.payload !== undefined) return given(job, request.payload)
  const isLive = liveAttempt(job, run) !== null
  return ofRevision(job, isLive ? liveRevisionOf(job) : payloadRevisionOf(job.spec))
}

/** The number within the run of the attempt under way; null when none is. */
function liveAttempt(job: Job, run: number): number | null {
  if (job.lease === null) return null
  const current = currentRunOf(job)
  return current.run.run === run ? current.run.attempt + 1 : null
}

/** `attempts` are those of the same run. */
function payloadOf(job: Job, { payload }: Attempt, attempts: readonly Attempt[]): RunPayload {
  if (payload === undefined) return ofRevision(job, FIRST_REVISION)
  switch (payload.in) {
    case 'spec':
      return ofRevision(job, payload.revision)
    case 'here':
      return given(job, payload.value)
    case 'first': {
      const first = attempts.find(held => held.payload?.in === 'here')?.payload
      return first?.in === 'here' ? given(job, first.value) : notKept(null)
    }
    case 'job': {
      const kept = job.spec.payloadHistory?.kept.find(one => one.given === payload.given)
      return kept === undefined ? notKept(null) : given(job, kept.value)
    }
    case 'off':
      return notKept(null)
  }
}

function given(job: Job, payload: Json): RunPayload {
  return { payload: payloadGiven(job.spec, payload), payloadOf: 'run', payloadRevision: null }
}

function notKept(payloadRevision: number | null): RunPayload {
  return { payload: null, payloadOf: null, payloadRevision }
}

/** A task is one run: the payload it was made with is that of the run. */
function ofRevision({ spec, kind }: Job, revision: number): RunPayload {
  const found = { payloadOf: kind === 'task' ? 'run' : 'job', payloadRevision: revision } as const
  if (revision === payloadRevisionOf(spec)) return { ...found, payload: payloadGiven(spec) }
  const kept = spec.payloadHistory?.kept.find(one => one.revisions.includes(revision))
  return kept === undefined
    ? notKept(revision)
    : { ...found, payload: payloadGiven(spec, kept.value) }
}
