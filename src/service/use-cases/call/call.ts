// One call of a use case: who calls, with what, and which parts of the service it may use.

import type { PageSink } from '../../../actions/crawl/pages.ts'
import type { Registry } from '../../../actions/registry.ts'
import type { Engine } from '../../../create-engine.ts'
import type { Sources } from '../../../sources/sources.ts'
import type { Workflows } from '../../../workflows/workflows.ts'
import type { Auth } from '../../auth/authenticator.ts'
import type { Principal } from '../../auth/principal.ts'

/** A logger with pino's shape. */
export interface HttpLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface CallSettings {
  /** The shortest interval of a schedule, for callers of one tenant. */
  readonly intervalMsMin: number
  /** Edits and deletions must say which revision they mean. */
  readonly requiresIfMatch: boolean
}

export interface Services {
  readonly engine: Engine
  readonly actions: Registry
  readonly workflows: Workflows
  readonly sources: Sources
  /** Where crawled pages are found; null when this service keeps none. */
  readonly pages: PageSink | null
  readonly auth: Auth
  readonly settings: CallSettings
  readonly version: string
  readonly log: HttpLogger | null
}

/** What a call that lasts asks of the caller's connection. */
export interface Connection {
  readonly isGone: () => boolean
  /** Tokens end and are revoked, sessions are signed out. */
  readonly isStillAllowed: () => Promise<boolean>
  /** It waits from now on, and no longer counts as a request of its tenant that is worked on. */
  readonly leaveShare: () => void
  /** Silence is no longer taken for a dead connection; the signal says that the caller hung up. */
  readonly hold: () => { readonly signal: AbortSignal; readonly release: () => void }
}

export interface Call<P = unknown, Q = unknown, B = unknown> extends Services {
  readonly caller: Principal
  readonly ip: string | null
  /** What the call is named in logs, answers and the audit. */
  readonly requestId: string
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Which revision the caller has read. */
  readonly ifMatch: string | null
  /** As it was sent; `once` checks it. */
  readonly idempotencyKey: unknown
  /** What the key stands for. */
  readonly target: { readonly method: string; readonly path: string }
  readonly connection: Connection
}
