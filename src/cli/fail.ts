// Telling people what went wrong: every problem on its own line, and a code for the shell.

import process from 'node:process'
import { SchedulerError, shown, type ErrorCode } from '../core/errors.ts'
import { exits } from './command.ts'

/** Writes to the standard error and returns the exit code. */
export function fail(error: unknown): number {
  if (!(error instanceof SchedulerError)) {
    say(`carillon: ${error instanceof Error ? error.message : String(error)}`)
    return exits.failed
  }
  if (error.problems.length === 0) {
    say(`carillon: ${error.message}`)
  } else {
    say('carillon: not valid')
    for (const { field, value, rule } of error.problems) say(`  ${field} ${rule}${got(value)}`)
  }
  return codes[error.code] ?? exits.failed
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
  QUERY_INVALID: exits.usage,
  JOB_NOT_FOUND: exits.notFound,
  RUN_NOT_FOUND: exits.notFound,
  TRANSITION_INVALID: exits.state,
  REVISION_CONFLICT: exits.state,
  STORE_UNAVAILABLE: exits.unreachable,
  STORE_FULL: exits.unreachable,
  STORE_READ_ONLY: exits.unreachable,
}
