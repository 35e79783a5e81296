// Every failure the product reports on purpose: one class, one table of codes.
// What a code means to a caller over HTTP is decided at that edge, not here.

import type { JsonObject } from './json.ts'

export const errorCodes = {
  JOB_NOT_FOUND: 'no job has this id',
  JOB_EXISTS: 'a job with this id is already stored',
  JOB_DECLARED: 'the job is declared in code and cannot be changed this way',
  RUN_NOT_FOUND: 'no run has this id',
  TRANSITION_INVALID: 'the job is not in a state that allows this',
  REVISION_CONFLICT: 'the job or workflow was changed by someone else since it was read',
  SPEC_INVALID: 'the job is not described correctly',
  PAYLOAD_INVALID: 'the payload cannot be carried as JSON or does not fit the schema of its job',
  REQUESTS_FULL: 'too many requested runs already wait behind this job',
  QUEUE_FULL: 'the queue holds as many waiting jobs as it may',
  HANDLER_UNKNOWN: 'no handler has this name',
  LEASE_LOST: 'the task is no longer held under this lease',
  RUN_FAILED: 'the run whose result was asked for failed or was cancelled',
  WORKFLOW_NOT_FOUND: 'no workflow has this id',
  WORKFLOW_EXISTS: 'a workflow with this id is already stored',
  WORKFLOW_INVALID: 'the workflow is not described correctly',
  SOURCE_NOT_FOUND: 'no source or rate limit has this name',
  SOURCE_EXISTS: 'a source with this name is already stored',
  SOURCE_INVALID: 'the source or rate limit is not described correctly',
  QUERY_INVALID: 'a list was asked for in a way that is not allowed',
  SETTINGS_INVALID: 'a setting is missing or wrong',
  SCHEDULER_STATE: 'the scheduler is not in a state that allows this',
  STORE_UNAVAILABLE: 'the store cannot be reached',
  STORE_FULL: 'the store has no room left on its disk',
  STORE_READ_ONLY: 'the store cannot be written',
  STORE_CORRUPT: 'the store is damaged',
  STORE_LOST: 'what the store held is gone: its file or its marker was removed while it was open',
  STORE_FOREIGN: 'the database belongs to something else',
  STORE_NEWER: 'the store was written by a newer version',
  STORE_OLDER: 'the store was written by an older version and is not migrated by looking at it',
  STORE_NOT_EMPTY: 'the store to write into holds something else',
  STORE_IN_USE: 'nodes are at work on the store',
  STORE_DIFFERS: 'what was copied does not equal what it was copied from',
} as const

export type ErrorCode = keyof typeof errorCodes

/** One thing wrong with what was given: which field, what it held, which rule it breaks. */
export interface Problem {
  readonly field: string
  readonly value: unknown
  readonly rule: string
  /** The field's own name is refused, not what it holds; where callers choose names. */
  readonly isName?: true
}

export class SchedulerError extends Error {
  readonly code: ErrorCode
  readonly problems: readonly Problem[]
  readonly details: JsonObject

  constructor(
    code: ErrorCode,
    message: string,
    more: { problems?: readonly Problem[]; details?: JsonObject; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'SchedulerError'
    this.code = code
    this.problems = more.problems ?? []
    this.details = more.details ?? {}
  }
}

/** Throws one error that names every problem at once; does nothing when there is none. */
export function refuse(code: ErrorCode, what: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const lines = problems.map(p => `${p.field}: ${p.rule} (got ${shown(p.value)})`)
  throw new SchedulerError(code, `${what}: ${lines.join('; ')}`, { problems })
}

const SHOWN_MAX = 80

/** A value as an error message shows it: short, on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  const text = builtIn(value) ?? jsonText(value) ?? `a ${typeof value}`
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text
}

/** Objects that JSON shows as {} or not at all, such as a Map. */
function builtIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (tag === 'Object') return undefined
  return value instanceof Date ? (jsonText(value) ?? 'an invalid Date') : `a ${tag}`
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** What is kept of an error a handler threw. */
export interface ErrorInfo {
  readonly name: string
  readonly message: string
  readonly stack: string | null
}

const MESSAGE_MAX = 4_096
const STACK_MAX = 8_192

/** Never throws: a thrown value may have members of any type, or ones that throw when they are read. */
export function errorInfo(thrown: unknown): ErrorInfo {
  try {
    return infoOf(thrown)
  } catch {
    return { name: 'Error', message: 'an error that cannot be read', stack: null }
  }
}

function infoOf(thrown: unknown): ErrorInfo {
  if (thrown instanceof Error) {
    const { name, message } = thrown as { readonly [K in keyof Error]: unknown }
    return {
      name: typeof name === 'string' ? name.slice(0, 200) : 'Error',
      message: textOf(message).slice(0, MESSAGE_MAX),
      stack: stackOf(thrown),
    }
  }
  return { name: 'Error', message: textOf(thrown).slice(0, MESSAGE_MAX), stack: null }
}

/** Some runtimes and tools write the stack when it is read, from a message they expect to be a text. */
function stackOf(error: Error): string | null {
  try {
    const stack: unknown = error.stack
    return typeof stack === 'string' ? stack.slice(0, STACK_MAX) : null
  } catch {
    return null
  }
}

/** What is given where a text belongs, in whatever type. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : shown(value)
}
