// Crawl jobs over HTTP: making, reading, listing, editing and removing them (B1, B2, B15, B17).

import { describe, expect, it } from 'vitest'
import { flatJob, startService } from './service.ts'

describe('B2 create', () => {
  it('B2 an interval job is scheduled one interval from now', async () => {
    const s = await startService()
    const made = await s.as().post('/api/v1/jobs', flatJob)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      status: 'scheduled',
      next_run_at: '2026-01-05T12:30:00.000Z',
      max_retries: 3,
      retry_backoff_seconds: 60,
    })
    expect(made.headers['location']).toBe(`/api/v1/jobs/${made.body.id}`)
  })
})
