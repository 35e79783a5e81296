// The examples of the document that workflow schedules come from, as they stand there (A5, A6, A8,
// A11, A13), and one workflow that calls out.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fail, ok } from '../support/scripted.ts'
import { dailyReport, reportFlow, SCHEDULES, Schedules, startSchedules } from './schedule-parts.ts'
import { WORKFLOWS } from './schedule-parts.ts'
import { startService } from './service.ts'
import { onThreeStores } from './stores.ts'

onThreeStores((store, start) => {
  it(`the example of creating a schedule works as it stands, on ${store}`, async () => {
    const s = await startSchedules(start)
    const text = `{
      "name": "Daily report",
      "workflow_id": 1,
      "trigger_node_id": "trigger_schedule_abc123",
      "interval_seconds": 86400,
      "total_repeats": 0,
      "max_retries": 3,
      "timeout_seconds": 600,
      "trigger_payload": {"report_type": "daily"}
    }`
    const made = await s.admin.post('/api/v1/schedules/', text)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ ...dailyReport, status: 'active' })
    const { id } = made.body
    expect((await s.admin.get(`/api/v1/schedules/${id}/`)).body).toEqual(made.body)
    const list = await s.admin.get('/api/v1/schedules/?status=active&workflow_id=1')
    expect(list.body).toEqual({ items: [made.body], total: 1 })
    await s.service.advance('1d')
    const [run] = await s.runs(id)
    expect(run).toMatchObject({
      id: `sched-${id}-n0-rc0`,
      status: 'completed',
      trigger_node_id: 'trigger_schedule_abc123',
    })
  })

  it(`pause keeps the counts, resume goes on from them, on ${store}`, async () => {
    const s = await startSchedules(start)
    const { id } = await s.make({ interval_seconds: 60 })
    await s.service.advance('2m')
    const paused = await s.admin.post(`/api/v1/schedules/${id}/pause/`)
    const kept = { current_repeat: 2, run_count: 2, error_count: 0 }
    expect(paused.body).toMatchObject({ ...kept, status: 'paused', next_run_at: null })
    await s.service.advance('10m')
    const resumed = await s.admin.post(`/api/v1/schedules/${id}/resume/`)
    expect(resumed.body).toMatchObject({
      ...kept,
      status: 'active',
      next_run_at: '2026-01-05T12:13:00.000Z',
    })
    const ids = { schedule_ids: [id] }
    expect((await s.admin.post('/api/v1/schedules/batch-delete/', ids)).status).toBe(204)
    expect((await s.admin.get(`/api/v1/schedules/${id}/`)).status).toBe(404)
  })
})

it.each([
  [60, [60, 120, 240, 480, 600, 600]],
  [300, [300, 600, 1200, 2400, 3000, 3000]],
])('the table of backoffs for an interval of %d s', async (interval, delays) => {
  const s = await startSchedules(startService, fail)
  const { id } = await s.make({ interval_seconds: interval, max_retries: 6 })
  const waits: number[] = []
  for (let retry = 0; retry <= delays.length; retry++) {
    const due = Date.parse((await s.get(id)).next_run_at!)
    if (retry > 0) waits.push((due - s.service.now) / 1_000)
    await s.service.advance(due - s.service.now)
  }
  expect(waits).toEqual(delays)
  expect(await s.get(id)).toMatchObject({ status: 'dead', error_count: 7 })
})

it('sched-…-n5-rc0 is the sixth repeat: repeats count from 0', async () => {
  const s = await startSchedules(startService, ok)
  const { id } = await s.make()
  await s.service.advance('6m')
  expect((await s.runs(id))[0]).toMatchObject({ id: `sched-${id}-n5-rc0`, repeat_number: 5 })
})

it('every row of the table of endpoints answers', async () => {
  const s = await startSchedules(startService, ok, { works: false })
  const { id } = await s.make()
  const { admin } = s
  const answers = [
    await admin.get('/api/v1/schedules/'),
    await admin.post('/api/v1/schedules/', { name: 'a', workflow_id: 1, interval_seconds: 1 }),
    await admin.get(`/api/v1/schedules/${id}/`),
    await admin.patch(`/api/v1/schedules/${id}/`, { interval_seconds: 1800 }),
    await admin.post(`/api/v1/schedules/${id}/pause/`),
    await admin.post(`/api/v1/schedules/${id}/resume/`),
    await admin.post('/api/v1/schedules/batch-delete/', { schedule_ids: [] }),
    await admin.delete(`/api/v1/schedules/${id}/`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 200, 200, 200, 204, 204])
})

it('A15 a step calls an HTTP endpoint, and the run says what became of it', async () => {
  const bodies: string[] = []
  const server = createServer((request, reply) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      bodies.push(text)
      reply.writeHead(200, { 'content-type': 'application/json' }).end('{"stored": 3}')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const host = `127.0.0.1:${port}`
  const s = new Schedules(await startService({ allowHosts: [host] }))
  const http = { url: `http://${host}/reports` }
  const steps = [{ id: 'call', http, input: { $from: 'event.payload' } }]
  expect((await s.admin.post(WORKFLOWS, { ...reportFlow, steps })).status).toBe(201)
  const { id } = await s.make({ trigger_payload: { report_type: 'daily' } })
  await s.service.advance('1m')
  const run = await vi.waitFor(async () => {
    const found = await s.admin.get(`${SCHEDULES}${id}/runs/sched-${id}-n0-rc0/`)
    expect(found.body.status).toBe('completed')
    return found.body
  }, 20_000)
  expect(bodies).toEqual(['{"report_type":"daily"}'])
  expect(run).toMatchObject({ steps: [{ id: 'call', status: 'completed', error: null }] })
})
