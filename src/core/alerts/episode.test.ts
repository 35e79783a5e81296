// When people are told of a job that fails, and when not again.

import { expect, it } from 'vitest'
import { foldIncidents, type Episode } from './episode.ts'
import type { IncidentCode, Incident } from './incident.ts'
import { MINUTE, SECOND } from '../time.ts'

const subject = { kind: 'job', id: 'j1', name: 'nightly', tenant: 'acme' } as const

let made = 0
function incident(code: IncidentCode, at: number): Incident & { readonly key: string } {
  return { code, subject, at, detail: 'partner down', nextAt: at + MINUTE, key: `a${made++}` }
}

function alerts(held: Episode | null, ...list: readonly ReturnType<typeof incident>[]) {
  const step = foldIncidents(held, list)
  return {
    ...step,
    told: step.alerts.map(({ type, condition }) => `${type.slice(6)} ${condition}`),
  }
}

it('N5 tells the first failure, a run that is given up, an end and the recovery once each', () => {
  const first = alerts(null, incident('first_failure', 0), incident('first_failure', 1))
  expect(first.told).toEqual(['raised first_failure'])
  expect(first.alerts[0]!.message).toBe(
    '"nightly" failed: partner down; tried again at 1970-01-01T00:01:00.000Z',
  )
  const worse = alerts(first.episode, incident('run_failed', 2), incident('run_failed', 3))
  expect(worse.told).toEqual(['raised run_failed'])
  const ended = alerts(worse.episode, incident('job_ended', 4))
  expect(ended.alerts[0]!.message).toBe('"nightly" ended and does not run again: partner down')
  const over = alerts(ended.episode, incident('recovered', 60_000), incident('recovered', 70_000))
  expect(over.told).toEqual(['cleared job_ended'])
  expect(over.alerts[0]!.message).toBe('"nightly" succeeded again after 1m')
  const episodes = [first, worse, ended, over].map(({ alerts: [one] }) => one!.episode)
  expect(new Set(episodes).size).toBe(1)
})

it('N5 a run without retries is told as given up at once, and not as a first failure besides', () => {
  expect(alerts(null, incident('run_failed', 0), incident('first_failure', 9)).told).toEqual([
    'raised run_failed',
  ])
})

it('N5 a success without a failure before it is no news', () => {
  expect(alerts(null, incident('recovered', 5))).toMatchObject({ episode: null, told: [] })
})

it('N5 a job that fails and succeeds in turn is told three times, then only when it stays well', () => {
  let held: Episode | null = null
  let count = 0
  for (let i = 0; i < 50; i++) {
    const bad = alerts(held, incident('run_failed', i * 2 * SECOND))
    const good = alerts(bad.episode, incident('recovered', (i * 2 + 1) * SECOND))
    held = good.episode
    count += bad.alerts.length + good.alerts.length
  }
  expect(count).toBe(7)
  const later = alerts(held, incident('recovered', 98 * SECOND + 10 * MINUTE))
  expect(later.told).toEqual(['cleared run_failed'])
})
