// The payloads a job keeps beside its present one: those it had before edits, and those that runs of
// it were given. They are a part of its stored spec, so they go where the spec goes.

import type { Json } from '../json.ts'
import type { Instant } from '../time.ts'

/** Absent while the payload was never edited and no run of the job was given one. */
export interface PayloadHistory {
  /** The revision of the job that brought its present payload. */
  readonly revision: number
  /** Attempts counted when it came: only later ones can have got it. */
  readonly since: number
  /** The attempt under way at the edit: it got the payload of an earlier revision. */
  readonly live?: { readonly attemptId: string; readonly revision: number }
  /** Oldest first, each content once. */
  readonly kept: readonly KeptPayload[]
}

export interface KeptPayload {
  readonly value: Json
  /** The revisions of the job that had this payload. */
  readonly revisions: readonly number[]
  /** What the attempts point to that were given it: the number of the first of them. */
  readonly given?: number
  /** The last attempt that got it, and when that was known: it goes when retention drops that one. */
  readonly number: number
  readonly at: Instant
}
