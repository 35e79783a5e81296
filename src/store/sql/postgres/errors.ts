// What the server's and the network's errors mean to callers. Anything not named here is a fault of
// this store and is passed on as it came.

import { SchedulerError, type ErrorCode } from '../../../core/errors.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/** By code, or by the class its first two characters name. */
const meanings: Readonly<Record<string, ErrorCode>> = {
  '08': 'STORE_UNAVAILABLE',
  '25006': 'STORE_READ_ONLY',
  '28': 'STORE_UNAVAILABLE',
  '3D': 'STORE_UNAVAILABLE',
  '3F': 'STORE_CORRUPT',
  '40': 'STORE_UNAVAILABLE',
  '42501': 'STORE_READ_ONLY',
  // Every statement of this store fits its own schema: if a part is gone, someone took it.
  '42P01': 'STORE_CORRUPT',
  '42703': 'STORE_CORRUPT',
  '42883': 'STORE_CORRUPT',
  '53': 'STORE_UNAVAILABLE',
  '53100': 'STORE_FULL',
  [LOCK_NOT_AVAILABLE]: 'STORE_UNAVAILABLE',
  '57': 'STORE_UNAVAILABLE',
  '58': 'STORE_UNAVAILABLE',
  XX001: 'STORE_CORRUPT',
  XX002: 'STORE_CORRUPT',
}

const SERIALIZATION = '40001'
const DEADLOCK = '40P01'
const TAKEN = '23505'
const DENIED = '42501'
const UNDEFINED_FUNCTION = '42883'

const reasons: Readonly<Record<string, string>> = {
  [LOCK_NOT_AVAILABLE]: 'lock_timeout',
  [DENIED]: 'denied',
}

interface Coded {
  readonly code?: unknown
  readonly severity?: unknown
}

/** The code the server gave, or null for what did not come from it. */
export function serverCode(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  const { code, severity } = thrown as Coded
  return typeof code === 'string' && typeof severity === 'string' ? code : null
}

/** Another transaction was in the way and nothing was written: the same call may be made again. */
export function isInTheWay(thrown: unknown): boolean {
  const code = serverCode(thrown)
  return code === SERIALIZATION || code === DEADLOCK
}

export function isTaken(thrown: unknown): boolean {
  return serverCode(thrown) === TAKEN
}

/** The role may not do this; after translation. */
export function isDenied(thrown: unknown): boolean {
  return thrown instanceof SchedulerError && thrown.details['reason'] === 'denied'
}

/** Functions are installed by content: one that is gone is installed again. */
export function isUndefinedFunction(thrown: unknown): boolean {
  return serverCode(thrown) === UNDEFINED_FUNCTION
}

/** Whether the connection can still be used: the server said no, and is still there. */
export function isAnswer(thrown: unknown): boolean {
  const code = serverCode(thrown)
  return code !== null && (thrown as Coded).severity === 'ERROR'
}

export interface Whereabouts {
  readonly place: string
  readonly password: string
}

export function translated(thrown: unknown, { place, password }: Whereabouts): unknown {
  if (thrown instanceof SchedulerError) return thrown
  const code = serverCode(thrown)
  const meaning = code === null ? 'STORE_UNAVAILABLE' : meaningOf(code)
  if (meaning === null) return thrown
  const why = thrown instanceof Error ? told(thrown) : String(thrown)
  const safe = password === '' ? why : why.replaceAll(password, '***')
  const reason = code === null ? undefined : reasons[code]
  const details = reason === undefined ? {} : { reason }
  return new SchedulerError(meaning, `the PostgreSQL store at ${place}: ${safe}`, { details })
}

/** What tried several addresses has a list of reasons and no words of its own. */
function told(error: Error): string {
  if (error.message !== '') return error.message
  const causes = error instanceof AggregateError ? error.errors : []
  return causes.map(cause => (cause instanceof Error ? cause.message : '')).join('; ')
}

function meaningOf(code: string): ErrorCode | null {
  return meanings[code] ?? meanings[code.slice(0, 2)] ?? null
}

/** Whoever may not create what is missing is told who can help. */
export function deniedError({ place }: Whereabouts): SchedulerError {
  return new SchedulerError(
    'STORE_OLDER',
    `the role of ${place} may not create what this program needs there: let its owner run what ` +
      '"carillon migrate sql" prints, then start again',
    { details: { reason: 'denied' } },
  )
}
