// `carillon/client`: the HTTP API for programs and browsers, typed by the service's own schemas.

import { endOf } from './bulk.ts'
import { events, type CarillonEvent, type EventOptions } from './events.ts'
import { Executions, Jobs } from './jobs.ts'
import { each } from './pages.ts'
import { Runs } from './runs.ts'
import { Transport, type Asked, type CallOptions, type ClientOptions } from './transport.ts'
import type * as t from './types.ts'
import { Schedules, Workflows } from './workflows.ts'

export { CarillonError, TimeoutError, UnreachableError, type ProblemEntry } from './error.ts'
export type { CarillonEvent, EventOptions, Topic } from './events.ts'
export type { Page } from './jobs.ts'
export type { LogLine } from './runs.ts'
export type { Asked, CallOptions, ClientOptions, Fetch, FetchAnswer } from './transport.ts'
export type * from './types.ts'

export function createClient(options: ClientOptions): Client {
  return new Client(options)
}

export class Client {
  readonly jobs: Jobs
  readonly executions: Executions
  readonly runs: Runs
  readonly schedules: Schedules
  readonly workflows: Workflows
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options)
    this.jobs = new Jobs(this.#transport)
    this.executions = new Executions(this.#transport)
    this.runs = new Runs(this.#transport)
    this.schedules = new Schedules(this.#transport)
    this.workflows = new Workflows(this.#transport)
  }

  /** Any route, for what has no method here. */
  request<T>(asked: Asked): Promise<T> {
    return this.#transport.json(asked)
  }

  /** What will fire in a window, of all jobs. */
  upcoming(query: t.UpcomingQuery = {}, options: CallOptions = {}): Promise<t.Upcoming> {
    return this.#read('/upcoming', query, options)
  }

  timeline(query: t.TimelineQuery = {}, options: CallOptions = {}): Promise<t.Timeline> {
    return this.#read('/timeline', query, options)
  }

  /** What a person should look at. */
  attention(options: CallOptions = {}): Promise<t.Attention> {
    return this.#read('/attention', {}, options)
  }

  activity(query: t.ActivityQuery = {}, options: CallOptions = {}): Promise<t.Activity> {
    return this.#read('/activity', query, options)
  }

  /** The newest decisions of up to 50 jobs. */
  heartbeats(
    jobs: readonly string[],
    slots = 30,
    options: CallOptions = {},
  ): Promise<t.Heartbeats> {
    return this.#read('/heartbeats', { jobs: jobs.join(','), slots }, options)
  }

  /** A cron expression explained. */
  cronPreview(body: t.CronPreviewBody, options: CallOptions = {}): Promise<t.CronPreview> {
    return this.#post('/cron/preview', body, options)
  }

  system(options: CallOptions = {}): Promise<t.System> {
    return this.#read('/system', {}, options)
  }

  metrics(options: CallOptions = {}): Promise<t.Metrics> {
    return this.#read('/scheduler/metrics', {}, options)
  }

  tenants(query: t.TenantQuery = {}, options: CallOptions = {}): Promise<t.TenantList> {
    return this.#read('/tenants', query, options)
  }

  eachTenant(query: t.TenantQuery = {}, options: CallOptions = {}): AsyncGenerator<t.Tenant, void> {
    return each(async cursor => {
      const page = await this.tenants({ limit: 100, ...query, cursor }, options)
      return { items: page.tenants, next: page.next_cursor }
    })
  }

  tenantRule(tenant: string, options: CallOptions = {}): Promise<t.TenantRule> {
    return this.#read(`/tenants/${encodeURIComponent(tenant)}`, {}, options)
  }

  /** What is left out has no rule; needs a token of every tenant. */
  setTenantRule(
    tenant: string,
    body: t.TenantRuleBody,
    options: CallOptions = {},
  ): Promise<t.TenantRule> {
    const path = `/api/v1/tenants/${encodeURIComponent(tenant)}`
    return this.#transport.json({ method: 'PUT', path, body, ...options })
  }

  removeTenantRule(tenant: string, options: CallOptions = {}): Promise<void> {
    const path = `/api/v1/tenants/${encodeURIComponent(tenant)}`
    return this.#transport.json({ method: 'DELETE', path, ...options })
  }

  search(query: t.SearchQuery, options: CallOptions = {}): Promise<t.SearchResults> {
    return this.#read('/search', query, options)
  }

  audit(query: t.AuditQuery = {}, options: CallOptions = {}): Promise<t.AuditList> {
    return this.#read('/audit', query, options)
  }

  eachAudit(
    query: t.AuditQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<t.AuditEntry, void> {
    return each(async cursor => {
      const page = await this.audit({ limit: 250, ...query, cursor }, options)
      return { items: page.entries, next: page.next_cursor }
    })
  }

  /** One verb for many, in the background; `bulkEnd` waits for it. */
  bulk(body: t.BulkBody, options: CallOptions = {}): Promise<t.BulkOperation> {
    return this.#post('/bulk', body, options)
  }

  bulkGet(id: string, options: CallOptions = {}): Promise<t.BulkOperation> {
    return this.#read(`/bulk/${encodeURIComponent(id)}`, {}, options)
  }

  bulkStop(id: string, options: CallOptions = {}): Promise<t.BulkOperation> {
    const path = `/api/v1/bulk/${encodeURIComponent(id)}`
    return this.#transport.json({ method: 'DELETE', path, ...options })
  }

  /** Looks until the operation is over; `tell` hears how far it is. */
  bulkEnd(
    id: string,
    tell: (operation: t.BulkOperation) => void = () => {},
    options: CallOptions = {},
  ): Promise<t.BulkOperation> {
    return endOf(this, id, tell, options)
  }

  /** Compares declared jobs of a label with the stored ones, or makes them match. */
  reconcile(body: t.ReconcileBody, options: CallOptions = {}): Promise<t.Reconciliation> {
    return this.#post('/reconcile', body, options)
  }

  /** Goes on by itself after a lost connection; ends when its signal says so. */
  events(options: EventOptions = {}): AsyncGenerator<CarillonEvent, void> {
    return events(this.#transport, options)
  }

  /** Who this client's token makes it. */
  session(options: CallOptions = {}): Promise<t.Session> {
    return this.#read('/session', {}, options)
  }

  /** Open to everyone. */
  version(options: CallOptions = {}): Promise<{ readonly name: string; readonly version: string }> {
    return this.#transport.json({ method: 'GET', path: '/version', ...options })
  }

  problemTypes(options: CallOptions = {}): Promise<{ readonly types: readonly t.ProblemType[] }> {
    return this.#transport.json({ method: 'GET', path: '/problems', ...options })
  }

  #read<T>(path: string, query: object, options: CallOptions): Promise<T> {
    return this.#transport.json({ method: 'GET', path: `/api/v1${path}`, query, ...options })
  }

  #post<T>(path: string, body: unknown, options: CallOptions): Promise<T> {
    return this.#transport.json({ method: 'POST', path: `/api/v1${path}`, body, ...options })
  }
}
