// One of everything that a tenant can have, made by its own people.

import type { Role } from '../../../src/service/auth/principal.ts'
import type { Answered, Service } from '../service.ts'

export interface Owned {
  readonly tenant: string
  readonly job: string
  readonly run: string
  readonly execution: string
  readonly workflow: string
  readonly workflowRun: string
  readonly schedule: string
  readonly scheduleRun: string
  readonly fair: string
  readonly user: string
  readonly task: string
  readonly lease_token: string
  readonly source: string
  readonly domain: string
  readonly bulk: string
}

/** In everything a tenant writes; nobody else may ever read it. */
export function markOf(tenant: string): string {
  return `mark-of-${tenant}`
}

export async function ownedBy(s: Service, tenant: string, n: number): Promise<Owned> {
  const as = (role: Role) => s.as(role, tenant)
  const mark = markOf(tenant)
  const made = async (path: string, body: object, role: Role = 'admin') => {
    const answer = await as(role).post(`/api/v1/${path}`, body)
    return assertMade(answer, path)
  }
  const job = await made('jobs', {
    name: mark,
    handler: 'work',
    payload: mark,
    trigger: { every: '1h' },
    first: 'now',
  })
  const workflow = n * 1_000
  await made('workflows', { id: workflow, name: mark, steps: [{ id: 'a', handler: 'work' }] })
  const schedule = await made('schedules', {
    name: mark,
    workflow_id: workflow,
    interval_seconds: 60,
  })
  const flow = await made(`workflows/${workflow}/run`, { payload: mark }, 'operator')
  const fair = await made('fair/schedules', { cron: '0 0 1 1 *', user_id: mark, payload: mark })
  const user = `user-${mark}`
  await as('admin').put(`/api/v1/users/${user}`, { weight: 3 })
  await s.as('admin', '*').put(`/api/v1/tenants/${tenant}`, { weight: 2 })
  await made('tasks', { user_id: mark, payload: mark }, 'operator')
  const claimed = await made('tasks/claim', { worker: mark, lease_seconds: 3_600 }, 'operator')
  const [task] = claimed['tasks'] as { id: string; lease_token: string }[]
  const response = { fields: [{ source: '.', target: 'a' }] }
  const source = `source-${mark}`
  await made('sources', { name: source, url: 'https://example.com', table: 'a', response })
  const domain = `${tenant}.example.com`
  await as('admin').put(`/api/v1/source-limits/${domain}`, { limit: 5, period: '1m' })
  const bulk = await made('bulk', { action: 'run', ids: [job.id] }, 'operator')
  await s.advance('2m')
  const { executions } = (await as('viewer').get(`/api/v1/jobs/${job.id}/executions`)).body
  const runs = (await as('viewer').get(`/api/v1/schedules/${schedule.id}/runs`)).body
  const [scheduleRun] = runs['items'] as { id: string }[]
  return {
    tenant,
    job: job.id,
    run: `${job.id}.1`,
    execution: executions[0]!.id,
    workflow: String(workflow),
    workflowRun: flow.run_id,
    schedule: schedule.id,
    scheduleRun: scheduleRun!.id,
    fair: fair.id,
    user,
    task: task!.id,
    lease_token: task!.lease_token,
    source,
    domain,
    bulk: bulk.id,
  }
}

function assertMade({ status, text, body }: Answered, path: string): Answered['body'] {
  if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`)
  return body
}
