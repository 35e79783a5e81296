// The settings of alerts: what is read and what is refused.

import { expect, it } from 'vitest'
import { alertDefaults } from './conditions.ts'
import { alertProblems, parseAlertLimits } from './limits.ts'

it('reads shares, durations, factors, counts and off', () => {
  const given = [
    'success_rate=90%',
    'error_rate=0.1',
    'processing_delay=2m',
    'store_down = 45000',
    'slow_runs=3.5',
    'stale_locks=off',
  ]
  const { limits, problems } = parseAlertLimits(given, 'CARILLON_ALERTS')
  expect(problems).toEqual([])
  expect(limits).toEqual({
    ...alertDefaults,
    success_rate: 0.9,
    error_rate: 0.1,
    processing_delay: 120_000,
    store_down: 45_000,
    slow_runs: 3.5,
    stale_locks: null,
  })
})

it.each([
  'colour=red',
  'success_rate',
  'success_rate=120%',
  'success_rate=-1',
  'processing_delay=soon',
  'processing_delay=0',
  'slow_runs=0.5',
  'stale_locks=0',
  'stale_locks=1.5',
  'constructor=1',
])('refuses %s', item => {
  expect(parseAlertLimits([item], 'CARILLON_ALERTS').problems).toMatchObject([
    { field: 'CARILLON_ALERTS', value: item },
  ])
})

const none = { alertUrl: null, alertSecret: null, alerts: [], allowHosts: [] }

it('refuses internal addresses unless they are allowed, and does not repeat them', () => {
  const alertUrl = 'http://10.1.2.3:9000/hook?key=abc'
  const problems = alertProblems({ ...none, alertUrl })
  expect(problems).toMatchObject([{ field: 'CARILLON_ALERT_URL' }])
  expect(JSON.stringify(problems)).not.toContain('abc')
  expect(alertProblems({ ...none, alertUrl, allowHosts: ['10.1.2.3:9000'] })).toEqual([])
  expect(alertProblems({ ...none, alertUrl: 'https://hooks.example.com/x' })).toEqual([])
})

it('refuses a secret that is none', () => {
  const problems = alertProblems({ ...none, alertSecret: 'hunter2' })
  expect(problems).toMatchObject([{ field: 'CARILLON_ALERT_SECRET', value: '***' }])
})
