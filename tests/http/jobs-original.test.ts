// The examples of interval jobs as they were first written down: each request as it stands there,
// comments left out and a token added.

import { describe, expect, it } from 'vitest'
import type { Service } from './service.ts'
import { onThreeStores } from './stores.ts'

const JOBS = '/api/v1/jobs'
const LATER = '2026-01-05T12:30:00.000Z'

const every30Minutes = {
  source_id: 'news-site',
  source_name: 'example.com',
  url: 'https://example.com',
  interval_minutes: 30,
  interval_type: 'minutes',
  schedule_enabled: true,
  max_retries: 3,
  retry_backoff_seconds: 60,
  metadata: { category: 'news', priority: 'high' },
}

function fail(): never {
  throw new Error('connection timeout')
}

async function made(s: Service, body: object): Promise<string> {
  const { status, body: job } = await s.as().post(JOBS, body)
  expect(status).toBe(201)
  return job.id
}

onThreeStores((store, start) => {
  describe(`the examples of interval jobs on ${store}`, () => {
    it('B1 B2 creating: an interval, and a job that runs once, immediately', async () => {
      const s = await start({ works: false })
      const recurring = await s.as().post(JOBS, every30Minutes)
      expect(recurring.status).toBe(201)
      expect(recurring.body).toMatchObject({
        ...every30Minutes,
        status: 'scheduled',
        next_run_at: LATER,
      })
      const once = await s.as().post(JOBS, {
        source_id: 'news-site',
        source_name: 'example.com',
        url: 'https://example.com',
        schedule_enabled: false,
      })
      expect(once.body).toMatchObject({ status: 'pending', schedule_enabled: false })
    })

    it('B4 pause, resume, cancel, retry answer as shown', async () => {
      const s = await start({ handlers: { 'action:crawl': fail } })
      const id = await made(s, every30Minutes)
      const paused = await s.as().post(`${JOBS}/${id}/pause`)
      expect(paused.status).toBe(200)
      expect(paused.body).toMatchObject({ id, status: 'paused', is_paused: true })
      expect(paused.body['paused_at']).toBe('2026-01-05T12:00:00.000Z')
      const resumed = await s.as().post(`${JOBS}/${id}/resume`)
      const again = { id, status: 'scheduled', is_paused: false, next_run_at: LATER }
      expect(resumed.body).toMatchObject(again)
      const cancelled = await s.as().post(`${JOBS}/${id}/cancel`)
      expect(cancelled.body).toMatchObject({ id, status: 'cancelled' })
      expect(cancelled.body['cancelled_at']).toBe('2026-01-05T12:00:00.000Z')
      const failing = await made(s, { ...every30Minutes, max_retries: 0 })
      await s.advance('31m')
      const retried = await s.as().post(`${JOBS}/${failing}/retry`)
      expect(retried.status).toBe(200)
      expect(retried.body).toMatchObject({ id: failing, status: 'pending', current_retry_count: 0 })
    })

    it('B5 B9 executions, one of them, statistics and metrics have the fields shown', async () => {
      const s = await start()
      const id = await made(s, every30Minutes)
      await s.advance('31m')
      const list = await s.as().get(`${JOBS}/${id}/executions?limit=50&offset=0`)
      expect(list.body).toMatchObject({ total: 1, limit: 50, offset: 0 })
      const [execution] = list.body.executions
      const shown = {
        job_id: id,
        execution_number: 1,
        status: 'completed',
        started_at: LATER,
        completed_at: LATER,
        duration_ms: 0,
        items_crawled: 25,
        items_indexed: 23,
        retry_attempt: 0,
      }
      expect(execution).toMatchObject(shown)
      const one = await s.as().get(`/api/v1/executions/${execution!.id}`)
      expect(one.body).toMatchObject({ ...shown, error_message: null, metadata: {} })
      expect(one.body).toHaveProperty('cpu_time_ms')
      expect(one.body).toHaveProperty('memory_peak_mb')
      expect((await s.as().get(`${JOBS}/${id}/stats`)).body).toMatchObject({
        total_executions: 1,
        successful_runs: 1,
        failed_runs: 0,
        average_duration_ms: 0,
        last_execution_at: LATER,
        next_scheduled_at: '2026-01-05T13:00:00.000Z',
        success_rate: 1,
      })
      expect((await s.as().get('/api/v1/scheduler/metrics')).body).toMatchObject({
        jobs: { scheduled: 1, running: 0, completed: 0, failed: 0, cancelled: 0 },
        executions: { total: 1, average_duration_ms: 0, success_rate: 1 },
        stale_locks_cleared: 0,
      })
    })

    it('B15 B21 troubleshooting: retry settings are adjusted by PUT', async () => {
      const s = await start({ works: false })
      const id = await made(s, every30Minutes)
      const change = { max_retries: 5, retry_backoff_seconds: 120 }
      const changed = await s.as().put(`${JOBS}/${id}`, change)
      expect(changed.status).toBe(200)
      expect(changed.body).toMatchObject({ ...every30Minutes, ...change })
    })
  })
})
