// A service with a workflow to schedule, and what tests of schedules do over and over.

import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { HOUR } from '../../src/core/time.ts'
import { createEngine } from '../../src/create-engine.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import type { Node } from '../../src/engine/node.ts'
import { ok } from '../support/scripted.ts'
import type { Answered, Caller, Service, ServiceOptions } from './service.ts'
import type { Start } from './stores.ts'

export const SCHEDULES = '/api/v1/schedules/'
export const WORKFLOWS = '/api/v1/workflows/'

/** The example of the original. */
export const dailyReport = {
  name: 'Daily report',
  workflow_id: 1,
  trigger_node_id: 'trigger_schedule_abc123',
  interval_seconds: 86400,
  total_repeats: 0,
  max_retries: 3,
  timeout_seconds: 600,
  trigger_payload: { report_type: 'daily' },
}

export const reportFlow = {
  id: 1,
  name: 'Reports',
  trigger_nodes: [{ id: 'trigger_schedule_abc123', kind: 'schedule', priority: 1, active: true }],
  steps: [{ id: 'work', handler: 'work' }],
}

export interface Schedule {
  readonly [field: string]: unknown
  readonly id: string
  readonly status: string
  readonly next_run_at: string | null
  readonly current_repeat: number
  readonly current_retry: number
  readonly error_count: number
  readonly last_error: string
}

export interface WorkflowRun {
  readonly [field: string]: unknown
  readonly id: string
  readonly status: string
  readonly started_at: string
  readonly steps: readonly { readonly id: string; readonly status: string }[]
}

export class Schedules {
  readonly service: Service
  readonly admin: Caller

  constructor(service: Service) {
    this.service = service
    this.admin = service.as()
  }

  /** Named s unless told otherwise, once a minute. */
  async make(more: JsonObject = {}): Promise<Schedule> {
    const body = { name: 's', workflow_id: 1, interval_seconds: 60, ...more }
    const made = await this.admin.post(SCHEDULES, body)
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
    return scheduleIn(made)
  }

  async get(id: string): Promise<Schedule> {
    return scheduleIn(await this.admin.get(`${SCHEDULES}${id}/`))
  }

  async runs(id: string): Promise<readonly WorkflowRun[]> {
    const { body } = await this.admin.get(`${SCHEDULES}${id}/runs/`)
    return body['items'] as WorkflowRun[]
  }

  post(id: string, verb: 'pause' | 'resume'): Promise<Answered> {
    return this.admin.post(`${SCHEDULES}${id}/${verb}/`)
  }

  async list(query = ''): Promise<{ readonly names: readonly unknown[]; readonly total: number }> {
    const { body } = await this.admin.get(`${SCHEDULES}${query}`)
    const items = body['items'] as Schedule[]
    return { names: items.map(item => item['name']), total: body.total }
  }

  /** Another node on the same store, with the same handlers. */
  async node(nodeId: string): Promise<Node> {
    const { service } = this
    const { store } = service.engine
    const settings = { nodeId, pruneMs: HOUR, metricsMs: HOUR }
    const engine = createEngine({ store, clock: service.clock, ids: new SystemIds(), settings })
    for (const name of service.engine.handlers.names) {
      engine.handlers.set(name, service.engine.handlers.get(name)!)
    }
    await service.until(engine.node.start())
    onTestFinished(() => engine.node.crash())
    return engine.node
  }
}

export function scheduleIn(answer: Answered): Schedule {
  return answer.body as unknown as Schedule
}

/** One workflow, number 1, whose only step calls `work`. */
export async function startSchedules(
  start: Start,
  work: Handler = ok,
  options: ServiceOptions = {},
): Promise<Schedules> {
  const service = await start({
    ...options,
    settings: { idleReapMs: HOUR, reapMs: HOUR, ...options.settings },
    handlers: { work, ...options.handlers },
  })
  const made = await service.as().post(WORKFLOWS, reportFlow)
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  return new Schedules(service)
}
