// The form of a job: what it sends is what it was filled from, and edits send only changes.

import { describe, expect, it } from 'vitest'
import { bodyOf, changesOf, durationText, emptyForm, formOf, type JobForm } from './form.ts'

const job = {
  name: 'digest',
  tenant: 'acme',
  handler: 'mail',
  action: null,
  trigger: { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', dialect: 'posix', dst: null },
  payload: { segment: 'all' },
  tags: ['mail', 'two words'],
  queue: 'mail',
  priority: 5,
  retry: {
    limit: null,
    backoff: { kind: 'fixed', delay_seconds: 30 },
    exhausted: 'next',
    yields: true,
  },
  timeout_seconds: null,
  overlap: { policy: 'queue', limit: 3 },
  missed: { policy: 'all', max: 7, max_age_seconds: 3_600 },
  grace_seconds: 60,
  jitter_seconds: 0,
  run_limit: null,
} as unknown as Parameters<typeof formOf>[0]

describe('the form of a job', () => {
  it('sends back what it was filled from', () => {
    expect(bodyOf(formOf(job))).toEqual({
      name: 'digest',
      handler: 'mail',
      trigger: { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', dialect: 'posix' },
      payload: { segment: 'all' },
      tags: ['mail', 'two words'],
      queue: 'mail',
      priority: 5,
      retry: { limit: null, backoff: { kind: 'fixed', delay_seconds: 30 }, exhausted: 'next' },
      timeout_seconds: null,
      overlap: { policy: 'queue', limit: 3 },
      missed: { policy: 'all', max: 7, max_age_seconds: 3_600 },
      grace_seconds: 60,
      jitter_seconds: 0,
      run_limit: null,
    })
  })

  it('keeps settings of an action that it does not show', () => {
    const action = { kind: 'http', url: 'https://a.example', method: 'PUT', secrets: ['***'] }
    const form = formOf({ ...job, action })
    expect(bodyOf(form).action).toEqual({ ...action, headers: {} })
  })

  it('sends only what was changed', () => {
    const before = formOf(job)
    expect(changesOf(before, before)).toEqual({})
    const now: JobForm = { ...before, priority: '6', retries: '2' }
    expect(changesOf(before, now)).toMatchObject({ priority: 6, retry: { limit: 2 } })
    expect(Object.keys(changesOf(before, now))).toEqual(['priority', 'retry'])
  })

  it('leaves what is no number or no JSON for the service to refuse by name', () => {
    const body = bodyOf({ ...emptyForm, grace: 'soon', payload: '{"a":', runLimit: 'x' })
    expect(body).toMatchObject({ grace_seconds: 'soon', payload: '{"a":', run_limit: 'x' })
  })

  it.each([
    [5_400_000, '90m'],
    [86_400_000, '1d'],
    [1_500, '1500ms'],
    [7_000, '7s'],
  ])('writes %i ms as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})
