// What failures of the server and of the way to it mean to callers. Anything not named here is a
// fault of this store and is passed on as it came.

import { SchedulerError, type ErrorCode } from '../../core/errors.ts'

/** By the first word of an error the server answers with. */
const replies: Readonly<Record<string, ErrorCode>> = {
  OOM: 'STORE_FULL',
  MISCONF: 'STORE_READ_ONLY',
  NOPERM: 'STORE_READ_ONLY',
  NOREPLICAS: 'STORE_READ_ONLY',
  READONLY: 'STORE_UNAVAILABLE',
  LOADING: 'STORE_UNAVAILABLE',
  MASTERDOWN: 'STORE_UNAVAILABLE',
  CLUSTERDOWN: 'STORE_UNAVAILABLE',
  TRYAGAIN: 'STORE_UNAVAILABLE',
  MOVED: 'STORE_UNAVAILABLE',
  ASK: 'STORE_UNAVAILABLE',
  BUSY: 'STORE_UNAVAILABLE',
  UNBLOCKED: 'STORE_UNAVAILABLE',
  NOAUTH: 'STORE_UNAVAILABLE',
  WRONGPASS: 'STORE_UNAVAILABLE',
  WRONGTYPE: 'STORE_CORRUPT',
  NOMARKER: 'STORE_LOST',
  NEWMARKER: 'STORE_LOST',
}

/** Errors of the client that say the server was not reached, or went away. */
const lost = new Set([
  'AbortError',
  'ConnectionTimeoutError',
  'SocketTimeoutError',
  'ClientClosedError',
  'ClientOfflineError',
  'DisconnectsClientError',
  'SocketClosedUnexpectedlyError',
  'RootNodesUnavailableError',
  'ReconnectStrategyError',
  'MaxCommandRedirectionsError',
  'TimeoutError',
])

/** Another server may answer at the same address: the connection is made anew. */
const moved = new Set(['READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'LOADING', 'NOAUTH'])

function firstWord(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : ''
  // A script passes on what a command of it was refused for, with a text around it.
  return /(?:^|-)([A-Z]{3,})\b/.exec(message)?.[1] ?? ''
}

export function isNoScript(thrown: unknown): boolean {
  return firstWord(thrown) === 'NOSCRIPT'
}

export function isReply(thrown: unknown): boolean {
  const name = thrown instanceof Error ? thrown.constructor.name : ''
  return name === 'SimpleError' || name === 'BlobError' || name === 'ErrorReply'
}

/** Whether the connection it came over is of no more use. */
export function breaksLink(thrown: unknown): boolean {
  return isReply(thrown) ? moved.has(firstWord(thrown)) : meaningOf(thrown) !== null
}

function meaningOf(thrown: unknown): ErrorCode | null {
  if (!(thrown instanceof Error)) return null
  if (isReply(thrown)) return replies[firstWord(thrown)] ?? null
  const { code } = thrown as { code?: unknown }
  if (typeof code === 'string' && /^(E[A-Z]+|ERR_(TLS|SSL|SOCKET)\w*)$/.test(code)) {
    return 'STORE_UNAVAILABLE'
  }
  return lost.has(thrown.constructor.name) ? 'STORE_UNAVAILABLE' : null
}

export function lostError(label: string): SchedulerError {
  return new SchedulerError(
    'STORE_LOST',
    `the Redis store at ${label}: its marker is gone, so the server was flushed, came back empty or ` +
      'was restored in part; restore a backup, or run carillon doctor --repair to go on with what is ' +
      'there, and restart the processes that use it',
    { details: { reason: 'marker' } },
  )
}

export function replacedError(label: string): SchedulerError {
  return new SchedulerError(
    'STORE_LOST',
    `the Redis store at ${label} was emptied and marked anew while this process used it; restore a ` +
      'backup if its jobs are needed, and restart this process to go on with what is there',
    { details: { reason: 'replaced' } },
  )
}

/** The layout this program writes is a baseline: older ones are copied over once. */
export function olderError(label: string, layout: number, needed: number): SchedulerError {
  return new SchedulerError(
    'STORE_OLDER',
    `the Redis store at ${label} has layout ${layout}, this program needs ${needed}: stop every node, copy ` +
      'the store into a file with the program that wrote it ("carillon store copy redis://… ' +
      'sqlite:old.db"), and copy the file into an empty namespace with this one ("carillon store copy ' +
      'sqlite:old.db redis://…?namespace=…")',
    { details: { version: layout, needed } },
  )
}

/** The error callers get; `label` names the store without its password. */
export function translated(thrown: unknown, label: string): unknown {
  if (thrown instanceof SchedulerError) return thrown
  const code = meaningOf(thrown)
  if (code === null) return thrown
  if (code === 'STORE_LOST') {
    return firstWord(thrown) === 'NEWMARKER' ? replacedError(label) : lostError(label)
  }
  const { message } = thrown as Error
  const why = message === '' ? (thrown as Error).constructor.name : message
  return new SchedulerError(code, `the Redis store at ${label}: ${why}`, { cause: thrown })
}
