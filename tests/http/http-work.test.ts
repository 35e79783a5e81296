// H1: requests of jobs and workflow steps may take as long as their own timeout.

import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { slowReceiver, type Receiver } from '../actions/site.ts'
import { startService, type Service, type Wire } from './service.ts'

const JOBS = '/api/v1/jobs'

function request(receiver: Receiver): Promise<ServerResponse> {
  return eventually('a request arrives', () => receiver.open.shift())
}

function execution(s: Service, id: string): Promise<Wire> {
  return eventually('the execution ends', async () => {
    const { body } = await s.as().get(`${JOBS}/${id}/executions`)
    return body.executions.find(one => one.status !== 'running')
  })
}

async function started(): Promise<{ s: Service; receiver: Receiver }> {
  const receiver = await slowReceiver()
  const s = await startService({ allowHosts: [`127.0.0.1:${receiver.port}`] })
  return { s, receiver }
}

describe('H1 a request takes as long as its own timeout', () => {
  it('H1 an http job whose endpoint answers after 25 s succeeds', async () => {
    const { s, receiver } = await started()
    const action = { kind: 'http', url: receiver.origin, timeout_seconds: 120 }
    const { body } = await s.as().post(JOBS, { action })
    const response = await request(receiver)
    await s.advance('25s')
    response.end('done')
    expect(await execution(s, body.id)).toMatchObject({ status: 'completed', duration_ms: 25_000 })
  })

  it('H1 an http job fails when its own timeout has passed', async () => {
    const { s, receiver } = await started()
    const action = { kind: 'http', url: receiver.origin, timeout_seconds: 120 }
    const { body } = await s.as().post(JOBS, { action, retry: { limit: 0 } })
    await request(receiver)
    await s.advance('119s')
    await s.advance('2s')
    const { status, error_message, duration_ms } = await execution(s, body.id)
    expect([status, duration_ms]).toEqual(['failed', 120_000])
    expect(error_message).toContain('the host took too long')
  })

  it('H1 a workflow step whose endpoint answers after 25 s succeeds', async () => {
    const { s, receiver } = await started()
    const http = { url: receiver.origin, timeout_seconds: 120 }
    const flow = await s.as().post('/api/v1/workflows', { name: 'f', steps: [{ id: 'a', http }] })
    expect(flow.status).toBe(201)
    const made = await s.as().post('/api/v1/schedules/', {
      workflow_id: flow.body.id,
      name: 'slow',
      interval_seconds: 60,
      total_repeats: 1,
    })
    expect(made.status).toBe(201)
    await s.advance('60s')
    const response = await request(receiver)
    await s.advance('25s')
    response.end('done')
    const over = await eventually('the schedule is done', async () => {
      const { body } = await s.as().get(`/api/v1/schedules/${made.body.id}`)
      return body.status === 'active' ? null : body
    })
    expect(over).toMatchObject({ status: 'done', run_count: 1, error_count: 0 })
  })
})
