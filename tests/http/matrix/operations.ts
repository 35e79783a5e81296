// What the document says of each operation: who may use it, what its path names, a body it accepts.

import type { Json } from '../../../src/core/json.ts'
import type { Access } from '../../../src/service/auth/principal.ts'
import type { Owned } from './owned.ts'

export interface Operation {
  readonly method: string
  readonly path: string
  readonly access: Access
  readonly takesTenant: boolean
}

interface Described {
  readonly 'x-access'?: Access
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
}

export function operationsOf(text: string): Operation[] {
  const { paths } = JSON.parse(text) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const access = described['x-access']
      if (access === undefined) throw new Error(`${method} ${path} does not say who may use it`)
      const { parameters = [] } = described
      const takesTenant = parameters.some(
        ({ in: where, name }) => where === 'query' && name === 'tenant',
      )
      return { method: method.toUpperCase(), path, access, takesTenant }
    }),
  )
}

/** By the beginning of the path; what a path names belongs to a tenant, or is free for all. */
const named: readonly (readonly [prefix: string, of: (own: Owned) => Record<string, string>])[] = [
  ['/api/v1/jobs/{id}', ({ job }) => ({ id: job })],
  ['/api/v1/executions/{id}', ({ execution }) => ({ id: execution })],
  ['/api/v1/runs/{id}', ({ run }) => ({ id: run })],
  ['/api/v1/schedules/{id}', ({ schedule, scheduleRun }) => ({ id: schedule, run: scheduleRun })],
  ['/api/v1/fair/schedules/{id}', ({ fair }) => ({ id: fair })],
  ['/api/v1/users/{id}', ({ user }) => ({ id: user })],
  ['/api/v1/tasks/{id}', ({ task }) => ({ id: task })],
  ['/api/v1/tenants/{id}', ({ tenant }) => ({ id: tenant })],
  ['/api/v1/workflows/{id}', ({ workflow, workflowRun }) => ({ id: workflow, run: workflowRun })],
  ['/api/v1/sources/{name}', ({ source }) => ({ name: source })],
  ['/api/v1/source-limits/{domain}', ({ domain }) => ({ domain })],
  ['/api/v1/bulk/{id}', ({ bulk }) => ({ id: bulk })],
  ['/problems/{slug}', () => ({ slug: 'not-found' })],
]

/** Every tenant has such names: of users all, with rules or without. */
const shared: readonly string[] = ['/problems/{slug}', '/api/v1/users/{id}']

/** Makes something of one's own where there is nothing of that name. */
export function makesNamed({ method, path }: Operation): boolean {
  return `${method} ${path}` === 'PUT /api/v1/source-limits/{domain}'
}

/** Whether the path names something of one tenant, which for all others does not exist. */
export function isOwned(operation: Operation): boolean {
  const { path } = operation
  return path.includes('{') && !shared.includes(path) && !makesNamed(operation)
}

export function urlOf({ path }: Operation, own: Owned): string {
  if (!path.includes('{')) return path
  const found = named.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))
  if (found === undefined) throw new Error(`the matrix does not know what ${path} names`)
  const values = found[1](own)
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the matrix does not know {${name}} of ${path}`)
    return encodeURIComponent(value)
  })
}

const trigger = { every: '1h' }
const steps = [{ id: 'a', handler: 'work' }]
const lease = ({ lease_token }: Owned) => ({ lease_token })
const response = { fields: [{ source: '.', target: 'a' }] }

/** What each operation accepts, so that nothing but the caller can be what is wrong. */
const bodies: Readonly<Record<string, (own: Owned) => Json>> = {
  'POST /api/v1/session': () => ({}),
  'POST /api/v1/tokens/revoke': () => ({ token: 'nothing' }),
  'POST /api/v1/jobs': () => ({ name: 'x', handler: 'work', trigger }),
  'POST /api/v1/jobs/from-cron': () => ({ apply: false }),
  'PUT /api/v1/jobs/{id}': () => ({ priority: 4 }),
  'PATCH /api/v1/jobs/{id}': () => ({ priority: 5 }),
  'POST /api/v1/jobs/{id}/backfill': () => ({ from: '2026-01-05T00:00:00Z', preview: true }),
  'POST /api/v1/runs/{id}/replay': () => ({ payload: 1 }),
  'POST /api/v1/schedules': ({ workflow }) => ({
    name: 'x',
    workflow_id: Number(workflow),
    interval_seconds: 60,
  }),
  'PATCH /api/v1/schedules/{id}': () => ({ name: 'y' }),
  'POST /api/v1/schedules/batch-delete': () => ({ schedule_ids: [] }),
  'POST /api/v1/fair/schedules': () => ({ cron: '0 * * * *', user_id: 'u' }),
  'PATCH /api/v1/fair/schedules/{id}': () => ({ priority: 4 }),
  'PUT /api/v1/users/{id}': () => ({ weight: 2 }),
  'POST /api/v1/tasks': () => ({ user_id: 'u', payload: 1, queue: 'elsewhere' }),
  'POST /api/v1/tasks/batch': () => ({ tasks: [{ user_id: 'u', queue: 'elsewhere' }] }),
  'POST /api/v1/tasks/claim': () => ({ worker: 'w', queues: ['default', 'elsewhere'] }),
  'POST /api/v1/tasks/{id}/heartbeat': lease,
  'POST /api/v1/tasks/{id}/complete': lease,
  'POST /api/v1/tasks/{id}/fail': own => ({ ...lease(own), error: { message: 'x' } }),
  'POST /api/v1/tasks/{id}/release': lease,
  'POST /api/v1/workflows': () => ({ name: 'x', steps }),
  'PUT /api/v1/workflows/{id}': () => ({ name: 'y' }),
  'PATCH /api/v1/workflows/{id}': () => ({ name: 'z' }),
  'POST /api/v1/sources': () => ({
    name: 'other',
    url: 'https://example.com',
    table: 'b',
    response,
  }),
  'PUT /api/v1/sources/{name}': () => ({ url: 'https://example.com/2', table: 'a', response }),
  'PATCH /api/v1/sources/{name}': () => ({ description: 'y' }),
  'PUT /api/v1/source-limits/{domain}': () => ({ limit: 5, period: '1m' }),
  'POST /api/v1/cron/preview': () => ({ cron: '0 * * * *' }),
  'POST /api/v1/bulk': ({ job }) => ({ action: 'run', ids: [job] }),
  'POST /api/v1/reconcile': () => ({ app: 'x', jobs: [] }),
}

export function bodyOf({ method, path }: Operation, own: Owned): Json | undefined {
  return bodies[`${method} ${path}`]?.(own)
}
