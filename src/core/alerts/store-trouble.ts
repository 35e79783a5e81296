// What a failing store means to an operator: a code and one sentence with the way back. It names no
// hosts and paths, for /readyz is open to everybody; the log has the store's own words.

import { SchedulerError } from '../errors.ts'
import { formatDuration, type Millis } from '../time.ts'
import type { TroubleReport } from './trouble.ts'

/** The reason a store gives whose server ended a wait for a lock. */
const LOCK_TIMEOUT = 'lock_timeout'

interface Kind {
  readonly code: string
  readonly message: string
}

const full: Kind = {
  code: 'store_full',
  message: 'The store has no room left. Make room; work goes on by itself.',
}
const readOnly: Kind = {
  code: 'store_read_only',
  message: 'The store cannot be written. Check its access rights; work goes on by itself.',
}
const locked: Kind = {
  code: 'store_locked',
  message:
    'The database file is locked by another process. Work goes on by itself once that process ' +
    'lets go of it: look for a sqlite3 shell, a VACUUM or a backup tool.',
}
const lockTimeout: Kind = {
  code: 'store_locked',
  message:
    'Another session of the database holds a lock that the store needs. Work goes on by itself ' +
    'once it lets go: look for it in pg_stat_activity.',
}
const unreachable: Kind = {
  code: 'store_unreachable',
  message: 'The store cannot be reached. Work goes on by itself when it answers.',
}
const corrupt: Kind = {
  code: 'store_corrupt',
  message: 'The store is damaged. Run carillon doctor, and restore a backup.',
}
const fileGone: Kind = {
  code: 'store_lost',
  message:
    'The database file was deleted or replaced while it was open; nothing is acknowledged. Stop ' +
    'this process, put the file back or restore a backup, and start it again.',
}
const emptied: Kind = {
  code: 'store_lost',
  message:
    'The Redis namespace lost its marker: the server was flushed or came back empty; nothing is ' +
    'acknowledged. Restore a backup, or run carillon doctor --repair to go on with what is there ' +
    'and restart this process.',
}
const replaced: Kind = {
  code: 'store_lost',
  message:
    'The Redis namespace was emptied and marked anew while this process used it; nothing is ' +
    'acknowledged. Restore a backup if its jobs are needed, and restart this process.',
}
const failing: Kind = {
  code: 'store_failing',
  message: 'The store fails; the log says how. Work goes on by itself when it answers.',
}

const kinds = [full, readOnly, locked, unreachable, corrupt, fileGone, failing]
/** Every code a failing store is told under. */
export const storeTroubleCodes: readonly string[] = kinds.map(({ code }) => code)

/** A call gave up waiting for somebody else's lock: `claim`; any other failure is `store`. */
export function errorKindOf(error: unknown): 'claim' | 'store' {
  return storeTroubleCodeOf(error) === locked.code ? 'claim' : 'store'
}

/** Null for an error that says something about the call and nothing about the store. */
export function storeTroubleCodeOf(error: unknown): string | null {
  const isRefusal = error instanceof SchedulerError && !error.code.startsWith('STORE_')
  return isRefusal ? null : kindOf(error).code
}

function kindOf(error: unknown): Kind {
  if (!(error instanceof SchedulerError)) return failing
  const { reason } = error.details
  switch (error.code) {
    case 'STORE_FULL':
      return full
    case 'STORE_READ_ONLY':
      return readOnly
    case 'STORE_UNAVAILABLE':
      if (reason === LOCK_TIMEOUT) return lockTimeout
      return reason === 'locked' ? locked : unreachable
    case 'STORE_CORRUPT':
      return corrupt
    case 'STORE_LOST':
      if (reason === 'marker') return emptied
      return reason === 'replaced' ? replaced : fileGone
    default:
      return failing
  }
}

export function storeTrouble(error: unknown): TroubleReport {
  return { ...kindOf(error), level: 'error', isBlocking: true }
}

/** Told beside the others: looks for work may succeed while outcomes cannot be written. */
export const OUTCOMES_TROUBLE = 'outcomes_unwritten'

export function outcomesTrouble(error: unknown): TroubleReport {
  const { message } = kindOf(error)
  return {
    code: OUTCOMES_TROUBLE,
    message: `Outcomes of finished runs cannot be written, so no new work is claimed. ${message}`,
    level: 'error',
    isBlocking: true,
  }
}

export const CLAIMS_LATE = 'claims_late'

/** Claims that come back too late for their leases: the node starts nothing and is not ready. */
export function lateClaims(tookMs: Millis, leaseMs: Millis): TroubleReport {
  const took = formatDuration(Math.round(tookMs / 100) * 100)
  const lease = formatDuration(leaseMs)
  return {
    code: CLAIMS_LATE,
    message:
      `claims take too long for the lease (${took} of ${lease}): claimed jobs go back unstarted ` +
      'until the store answers faster; raise lockDurationMs if it stays this slow',
    level: 'error',
    isBlocking: true,
  }
}
