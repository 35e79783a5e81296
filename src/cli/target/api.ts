// What commands may ask of a target, be it a service elsewhere or a store of this machine.

import type { Client } from '../../client/index.ts'
import type { CallOptions } from '../../client/transport.ts'

export interface Listed<T> {
  readonly items: readonly T[]
  readonly next_cursor: string | null
}

export interface Revoked {
  readonly kind: 'token' | 'session'
  readonly id: string
}

export interface SessionPage {
  readonly sessions: readonly {
    readonly id: string
    readonly sub: string
    readonly tenant: string
    readonly role: string
    readonly created_at: string
    readonly expires_at: string
    readonly ip: string | null
  }[]
  readonly next_cursor: string | null
}

type Query = Readonly<Record<string, unknown>>

/** Sources and their rate limits; a query may name the tenant. */
export interface SourceApi {
  create(body: unknown, query: Query, options: CallOptions): Promise<unknown>
  replace(name: string, body: unknown, query: Query, options: CallOptions): Promise<unknown>
  remove(name: string, query: Query, options: CallOptions): Promise<unknown>
  list<T>(query: Query, options: CallOptions): Promise<Listed<T>>
  get<T>(name: string, query: Query, options: CallOptions): Promise<T>
  setLimit(domain: string, body: unknown, query: Query, options: CallOptions): Promise<unknown>
  removeLimit(domain: string, query: Query, options: CallOptions): Promise<unknown>
  listLimits<T>(query: Query, options: CallOptions): Promise<Listed<T>>
}

export interface SessionApi {
  list(query: Query, options: CallOptions): Promise<SessionPage>
  revoke(token: string, options: CallOptions): Promise<Revoked>
}

export interface Api extends Pick<
  Client,
  | 'attention'
  | 'bulk'
  | 'bulkEnd'
  | 'events'
  | 'heartbeats'
  | 'metrics'
  | 'reconcile'
  | 'search'
  | 'system'
  | 'tenants'
  | 'upcoming'
> {
  readonly jobs: Omit<
    Pick<Client['jobs'], keyof Client['jobs']>,
    'unlock' | 'lateness' | 'executions'
  >
  readonly runs: Omit<Pick<Client['runs'], keyof Client['runs']>, 'each' | 'replay'>
  readonly sources: SourceApi
  readonly sessions: SessionApi
}
