// Workflows and the schedules that run them.

import { each } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'
import type * as t from './types.ts'

export interface TenantOption {
  /** Whose, for tokens that see every tenant. */
  readonly tenant?: string
}

export class Schedules {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(query: t.ScheduleQuery = {}, options: CallOptions = {}): Promise<t.ScheduleList> {
    return this.#ask('GET', '', { query, ...options })
  }

  get(id: string, options: CallOptions = {}): Promise<t.Schedule> {
    return this.#ask('GET', `/${encodeURIComponent(id)}`, options)
  }

  create(body: t.ScheduleBody, options: CallOptions & TenantOption = {}): Promise<t.Schedule> {
    const { tenant, ...call } = options
    return this.#ask('POST', '', { body, query: { tenant }, ...call })
  }

  edit(id: string, body: t.SchedulePatch, options: CallOptions = {}): Promise<t.Schedule> {
    return this.#ask('PATCH', `/${encodeURIComponent(id)}`, { body, ...options })
  }

  remove(id: string, options: CallOptions = {}): Promise<void> {
    return this.#ask('DELETE', `/${encodeURIComponent(id)}`, options)
  }

  removeMany(ids: readonly string[], options: CallOptions = {}): Promise<void> {
    return this.#ask('POST', '/batch-delete', { body: { schedule_ids: ids }, ...options })
  }

  pause(id: string, options: CallOptions = {}): Promise<t.Schedule> {
    return this.#ask('POST', `/${encodeURIComponent(id)}/pause`, options)
  }

  resume(id: string, options: CallOptions = {}): Promise<t.Schedule> {
    return this.#ask('POST', `/${encodeURIComponent(id)}/resume`, options)
  }

  runs(
    id: string,
    query: t.WorkflowRunQuery = {},
    options: CallOptions = {},
  ): Promise<t.WorkflowRunList> {
    return this.#ask('GET', `/${encodeURIComponent(id)}/runs`, { query, ...options })
  }

  run(id: string, run: string, options: CallOptions = {}): Promise<t.WorkflowRun> {
    const path = `/${encodeURIComponent(id)}/runs/${encodeURIComponent(run)}`
    return this.#ask('GET', path, options)
  }

  #ask<T>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    more: CallOptions & { readonly query?: object; readonly body?: unknown },
  ): Promise<T> {
    return this.#transport.json({ method, path: `/api/v1/schedules${path}`, ...more })
  }
}

type InTenant = CallOptions & TenantOption

export class Workflows {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(query: t.WorkflowQuery = {}, options: CallOptions = {}): Promise<t.WorkflowList> {
    return this.#ask('GET', '', { query, ...options })
  }

  each(query: t.WorkflowQuery = {}, options: CallOptions = {}): AsyncGenerator<t.Workflow, void> {
    return each(async cursor => {
      const page = await this.list({ limit: 250, ...query, cursor }, options)
      return { items: page.items, next: page.next_cursor }
    })
  }

  get(id: number, options: InTenant = {}): Promise<t.Workflow> {
    return this.#ask('GET', `/${id}`, options)
  }

  create(body: t.WorkflowBody, options: InTenant = {}): Promise<t.Workflow> {
    return this.#ask('POST', '', { body, ...options })
  }

  edit(id: number, body: t.WorkflowPatch, options: InTenant = {}): Promise<t.Workflow> {
    return this.#ask('PATCH', `/${id}`, { body, ...options })
  }

  remove(id: number, options: InTenant = {}): Promise<void> {
    return this.#ask('DELETE', `/${id}`, options)
  }

  run(
    id: number,
    body: t.WorkflowRunBody = {},
    options: InTenant = {},
  ): Promise<t.WorkflowRunAsked> {
    return this.#ask('POST', `/${id}/run`, { body, ...options })
  }

  runs(
    id: number,
    query: t.WorkflowRunQuery = {},
    options: InTenant = {},
  ): Promise<t.WorkflowRunList> {
    return this.#ask('GET', `/${id}/runs`, { query, ...options })
  }

  runOf(id: number, run: string, options: InTenant = {}): Promise<t.WorkflowRun> {
    return this.#ask('GET', `/${id}/runs/${encodeURIComponent(run)}`, options)
  }

  #ask<T>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    { tenant, query, ...more }: InTenant & { readonly query?: object; readonly body?: unknown },
  ): Promise<T> {
    const whole = tenant === undefined ? query : { ...query, tenant }
    return this.#transport.json({ method, path: `/api/v1/workflows${path}`, query: whole, ...more })
  }
}
