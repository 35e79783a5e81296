// What a source is: where records come from, how they are read page by page, where they go.

import type { SecretRef } from '../actions/secrets.ts'
import type { Instant } from '../core/time.ts'

/** A source as its author writes it, with defaults filled in. */
export interface SourceDocument extends FetchDocument {
  /** `daily`, `hourly` or `interval:<N><s|m|h>`, counted from the last success. */
  readonly schedule: string
  readonly execution: ExecutionDocument
  /** Only `active` sources run. */
  readonly status: string
}

/** The part of it that says what one run does. */
export interface FetchDocument {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly table: string
  /** Appended to the URL in this order. */
  readonly params: readonly Param[]
  readonly headers: Readonly<Record<string, string | SecretRef>>
  readonly response: ResponseDocument
  readonly offsetPagination?: OffsetPagination | undefined
  readonly cursorPagination?: CursorPagination | undefined
}

export interface ExecutionDocument {
  /** Seconds. */
  readonly timeout: number
  readonly maxRetries: number
  readonly retryResetPeriod: string
}

export interface Param {
  readonly name: string
  readonly value: string | number | boolean | SecretRef
}

export interface ResponseDocument {
  /** Where the list of records is; `.` when the answer itself is the list. */
  readonly dataPath: string
  readonly fields: readonly Field[]
}

export interface Field {
  /** A dot path inside a record; `.` for the record itself. */
  readonly source: string
  /** The column it goes to. */
  readonly target: string
}

export interface OffsetPagination {
  readonly pageParam: string
  readonly limitParam?: string | undefined
  readonly limit: number
  /** Without it the first page with fewer records than the limit is the last. */
  readonly hasMorePath?: string | undefined
  /** What the page parameter counts. */
  readonly counts: 'pages' | 'records'
  /** Its first value. Pages count from 1 and records from 0 unless told. */
  readonly first?: number | undefined
}

export interface CursorPagination {
  /** Without it what is found is a link, to be followed within the origin of the URL. */
  readonly cursorParam?: string | undefined
  readonly nextCursorPath: string
}

export interface RateLimit {
  /** A host; those below it are meant too, unless they have a limit of their own. */
  readonly domain: string
  readonly limit: number
  readonly period: string
}

/** A source as people see it. */
export interface Source extends SourceDocument {
  readonly jobId: string
  readonly state: string
  readonly lastSuccessAt: Instant | null
  readonly nextRunAt: Instant | null
  readonly retry: RetryState
  readonly revision: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface RetryState {
  /** The first failure that still counts. */
  readonly periodStart: Instant | null
  readonly retryCount: number
  readonly nextRetryAt: Instant | null
}

export const sourceLimits = {
  nameLength: 100,
  descriptionLength: 1_000,
  statusLength: 50,
  valueLength: 2_000,
  pathLength: 500,
  params: 50,
  fields: 200,
  /** The whole description as JSON. */
  bytes: 48 * 1024,
  depth: 16,
  timeoutSecondsMax: 604_800,
  retriesMax: 1_000,
  pageLimitMax: 10_000,
  rateLimitMax: 1_000_000,
  rateLimits: 250,
} as const

/** Bounds of one run; a service may lower or raise them. */
export interface FetchLimits {
  readonly pagesMax: number
  readonly bodyBytesMax: number
  /** Of all answers of one run together. */
  readonly runBytesMax: number
  readonly recordsMax: number
  readonly redirectsMax: number
}

export const fetchDefaults: FetchLimits = {
  pagesMax: 1_000,
  bodyBytesMax: 10 * 1024 * 1024,
  runBytesMax: 1024 * 1024 * 1024,
  /** Of one page: they are written in one transaction. */
  recordsMax: 10_000,
  redirectsMax: 5,
}

/** The queue of sources, and how many a node holds beyond those it runs. */
export const SOURCE_QUEUE = 'sources'
export const QUEUE_SIZE = 10
