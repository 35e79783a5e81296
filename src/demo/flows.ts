// Workflows and sources of the demo: what they are, and how their runs went.

import type { Job } from '../core/job.ts'
import type { JsonObject } from '../core/json.ts'
import { completeSpec, specDefaults } from '../core/spec.ts'
import { HOUR, MINUTE, SECOND, DAY, type Instant } from '../core/time.ts'
import { checkSource } from '../sources/check.ts'
import { SOURCE_APP, sourceId, specOf } from '../sources/spec.ts'
import type { WorkflowInput } from '../workflows/shape.ts'
import type { Workflow } from '../workflows/workflow.ts'
import { handlerOf, type DemoJob } from './make.ts'
import { share, tempered, type Plan, type Temper } from './temper.ts'

export const DEMO_TENANT = 'default'
export const ORDERS_ID = 'demo-orders-schedule'

export const demoWorkflows: readonly WorkflowInput[] = [
  {
    name: 'Orders to warehouse',
    steps: [
      { id: 'extract-orders', handler: handlerOf('orders.extract') },
      { id: 'extract-customers', handler: handlerOf('orders.extract') },
      {
        id: 'join',
        needs: ['extract-orders', 'extract-customers'],
        handler: handlerOf('orders.join'),
      },
      { id: 'check', needs: ['join'], handler: handlerOf('orders.check') },
      { id: 'publish', needs: ['check'], handler: handlerOf('orders.publish') },
    ],
  },
  {
    name: 'Close the month',
    active: false,
    steps: [
      { id: 'collect', handler: handlerOf('orders.extract') },
      { id: 'sign-off', needs: ['collect'], handler: handlerOf('orders.check') },
    ],
  },
]

const flowTemper: Temper = {
  takesMs: [9 * SECOND, 40 * SECOND],
  fails: 0.08,
  error: 'step check: 14 orders have no customer',
  unit: 'rows',
  most: 9_000,
  says: ['extract-orders: # rows', 'extract-customers: done', 'join: # rows', 'publish: done'],
}

export function workflowJob({ id, tenant }: Workflow): DemoJob {
  return {
    id: ORDERS_ID,
    age: 2.5 * DAY,
    spec: completeSpec({
      name: 'orders every half hour',
      tenant,
      handler: 'action:workflow',
      isAction: true,
      trigger: {
        kind: 'cron',
        expression: '10,40 * * * *',
        zone: 'Europe/Berlin',
        dialect: 'extended',
        dst: null,
      },
      retry: { ...specDefaults.retry, limit: 2, exhausted: 'next' },
      payload: { action: { kind: 'workflow', workflow_id: id, owner: 'demo' }, payload: {} },
      tags: ['workflow', 'demo'],
      metadata: tempered(flowTemper),
    }),
  }
}

const failingStep = 'check'

/** The steps of an attempt, as the run of a workflow leaves them. */
export function stepsOf(workflow: Workflow, job: Job, plan: Plan, startedAt: Instant): JsonObject {
  const { id, name, revision, steps } = workflow
  const ends = new Map<string, Instant>()
  const failsAt = steps.findIndex(step => step.id === failingStep)
  const piece = plan.tookMs / Math.max(1, steps.length - 1)
  const told = steps.map((step, i): JsonObject => {
    const isFailed = plan.error !== null && i === failsAt
    const isLeft = plan.error !== null && i > failsAt
    if (isLeft) return stepRow(step.id, 'cancelled', null)
    const from = Math.max(startedAt, ...step.needs.map(need => ends.get(need) ?? startedAt))
    const to = Math.round(from + piece * (0.4 + 0.6 * share(`${job.id} ${startedAt} ${step.id}`)))
    ends.set(step.id, to)
    return stepRow(step.id, isFailed ? 'failed' : 'completed', {
      from,
      to,
      error: isFailed ? plan.error : null,
    })
  })
  const entry = workflow.entries[0]?.id ?? ''
  return {
    repeat_number: job.counters.concluded,
    workflow: { workflow: id, name, revision, entry, steps: told },
  }
}

interface Went {
  readonly from: Instant
  readonly to: Instant
  readonly error: string | null
}

function stepRow(id: string, status: string, went: Went | null): JsonObject {
  return {
    id,
    status,
    startedAt: went?.from ?? null,
    finishedAt: went?.to ?? null,
    attempt: went === null ? null : 1,
    error: went?.error ?? null,
  }
}

const sources = [
  {
    name: 'exchange-rates',
    description: 'Rates of the central bank',
    url: 'https://rates.example/v1/latest',
    table: 'exchange_rates',
    schedule: 'hourly',
    fails: 0.03,
  },
  {
    name: 'weather-stations',
    description: 'Readings of 400 stations',
    url: 'https://weather.example/stations',
    table: 'weather_readings',
    schedule: 'interval:15m',
    fails: 0.15,
  },
  {
    name: 'stock-levels',
    description: 'What the supplier has left',
    url: 'https://supplier.example/stock',
    table: 'stock_levels',
    schedule: 'daily',
    fails: 0,
  },
  {
    name: 'old-catalogue',
    description: 'Kept for its rows; no longer fetched',
    url: 'https://supplier.example/catalogue',
    table: 'catalogue',
    schedule: 'daily',
    status: 'inactive',
    fails: 0,
  },
] as const

/** They are told from other sources by their mark alone: their names are theirs. */
export function sourceJobs(): DemoJob[] {
  return sources.map(({ fails, ...given }) => {
    const response = {
      dataPath: 'data',
      fields: [
        { source: 'id', target: 'id' },
        { source: 'value', target: 'value' },
      ],
    }
    const { document, problems } = checkSource({ ...given, response }, () => null)
    if (document === null) throw new Error(`demo source ${given.name}: ${problems[0]?.rule}`)
    const spec = specOf(document, DEMO_TENANT)
    const temper: Temper = {
      takesMs: [700, 9 * SECOND],
      fails,
      error: `GET ${given.url} answered 502`,
      unit: 'records',
      most: 800,
      says: ['page 1: # records', 'wrote # records'],
    }
    return {
      id: sourceId(DEMO_TENANT, given.name),
      age: given.schedule === 'daily' ? 9 * DAY : 30 * HOUR + 7 * MINUTE,
      spec: {
        ...spec,
        tags: ['source', 'demo'],
        metadata: { ...spec.metadata, ...tempered(temper) },
      },
      declared: {
        app: SOURCE_APP,
        definition: 'source',
        key: given.name,
        generation: '',
        source: 'runtime',
      },
    }
  })
}
