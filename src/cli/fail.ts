// Telling people what went wrong: every problem on its own line, and a code for the shell.

import process from 'node:process'
import { CarillonError, TimeoutError, UnreachableError } from '../client/error.ts'
import { SchedulerError, shown, type ErrorCode } from '../core/errors.ts'
import { exits } from './exits.ts'
import { CliProblem } from './problem.ts'
import { safe } from './screen.ts'

interface Told {
  readonly code: number
  readonly message: string
  readonly problems: readonly { field: string; value: unknown; rule: string }[]
  readonly hint: string | null
  /** What a program is told with `--json`. */
  readonly body: unknown
}

/** Writes to the standard error and returns the exit code. */
export function fail(error: unknown, { json = false }: { readonly json?: boolean } = {}): number {
  const told = toldOf(error)
  if (json) {
    say(JSON.stringify({ error: told.body }))
    return told.code
  }
  const message = told.problems.length === 0 ? told.message : 'not valid'
  say(`carillon: ${message.split('\n').map(safe).join('\n')}`)
  for (const { field, value, rule } of told.problems) say(safe(`  ${field} ${rule}${got(value)}`))
  if (told.hint !== null) say(`  ${safe(told.hint)}`)
  return told.code
}

function toldOf(error: unknown): Told {
  const message = error instanceof Error ? error.message : String(error)
  const plain = { message, problems: [], hint: null }
  if (error instanceof CliProblem) {
    const { exit: code, hint } = error
    return { ...plain, code, hint, body: { message, hint } }
  }
  if (error instanceof CarillonError) {
    const { problems, body } = error
    return { ...plain, code: codeOf(error), problems, hint: hintOf(error), body }
  }
  if (error instanceof TimeoutError) return { ...plain, code: exits.timedOut, body: { message } }
  if (error instanceof UnreachableError) {
    return { ...plain, code: exits.unreachable, body: { message } }
  }
  if (error instanceof SchedulerError) {
    const { code, problems } = error
    return {
      ...plain,
      code: codes[code] ?? exits.failed,
      problems,
      body: { code, message, problems },
    }
  }
  return { ...plain, code: exits.failed, body: { message } }
}

function codeOf({ status, type }: CarillonError): number {
  if (status === 401 || status === 403) return exits.auth
  if (status === 404) return exits.notFound
  if (type === 'invalid-transition' || [409, 412, 428].includes(status)) return exits.state
  if (status === 429 || status === 503) return exits.unreachable
  return status < 500 ? exits.usage : exits.failed
}

function hintOf({ status, requestId }: CarillonError): string | null {
  if (status === 401) return 'put a token into CARILLON_TOKEN, or name a file with --token-file'
  return status >= 500 && requestId !== null ? `the service logged it as ${requestId}` : null
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function got(value: unknown): string {
  return value === '' || value === null || value === undefined ? '' : ` (got ${shown(value)})`
}

const codes: Readonly<Partial<Record<ErrorCode, number>>> = {
  SETTINGS_INVALID: exits.usage,
  SPEC_INVALID: exits.usage,
  SOURCE_INVALID: exits.usage,
  QUERY_INVALID: exits.usage,
  JOB_NOT_FOUND: exits.notFound,
  RUN_NOT_FOUND: exits.notFound,
  TRANSITION_INVALID: exits.state,
  REVISION_CONFLICT: exits.state,
  STORE_UNAVAILABLE: exits.unreachable,
  STORE_FULL: exits.unreachable,
  STORE_READ_ONLY: exits.unreachable,
  STORE_LOST: exits.unreachable,
}
