// Timers of systemd, CronJobs, and cron made intervals.

import { describe, expect, it } from 'vitest'
import { intervalOf } from './intervals.ts'
import { readCronJobs } from './k8s.ts'
import { readCalendar, readSpan } from './systemd-calendar.ts'
import { readTimer } from './systemd.ts'

describe('OnCalendar', () => {
  it.each([
    ['daily', '0 0 * * *', null],
    ['Mon..Fri 09:00', '0 9 * * MON-FRI', null],
    ['*:0/15', '*/15 * * * *', null],
    ['*-*-* 03:00:00 Europe/Berlin', '0 3 * * *', 'Europe/Berlin'],
    ['Mon *-*-1..7 12:00', '0 12 * * 1#1', null],
    ['*-*~01 04:30', '30 4 L * *', null],
    ['8..18:5/30:15', '15 5-59/30 8-18 * * *', null],
    ['*-01,07-01', '0 0 1 1,7 *', null],
  ])('%s is %s', (text, cron, zone) => {
    expect(readCalendar(text)).toEqual({ cron, zone })
  })

  it.each(['Mon,Thu *-*-10 1:0', '2026..2027-1-1', 'Sat *-*~07..01', 'whenever you like'])(
    '%s has no cron',
    text => expect(readCalendar(text)).toHaveProperty('fault'),
  )

  it.each([
    ['1h 30min', 5_400_000],
    ['90', 90_000],
    ['2weeks', 1_209_600_000],
    ['infinity', null],
    ['3 moons', null],
  ])('the span %s is %s ms', (text, ms) => expect(readSpan(text)).toBe(ms))
})

describe('a timer', () => {
  const service = `[Service]
Type=oneshot
User=www
Environment="A=one two" B=2
WorkingDirectory=/srv
TimeoutStartSec=5min
ExecStart=-/usr/bin/sync "a b" \\
  --all
`
  const timer = (settings: string) => ({
    name: 'sync',
    timer: `[Timer]\n${settings}`,
    service,
    zone: 'Europe/Berlin',
  })

  it('becomes a job with its policies and its program', () => {
    const settings = 'OnCalendar=*-*-* 02:30\nPersistent=true\nRandomizedDelaySec=10min'
    const { jobs, notes } = readTimer(timer(settings))
    expect(jobs.map(({ body }) => body)).toEqual([
      {
        name: 'sync',
        trigger: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
        action: {
          kind: 'command',
          argv: ['/usr/bin/sync', 'a b', '--all'],
          cwd: '/srv',
          env: { A: 'one two', B: '2' },
        },
        timeout_seconds: 300,
        overlap: 'skip',
        missed: 'once',
        jitter_seconds: 600,
        retry: { limit: 0, exhausted: 'next' },
        tags: ['systemd'],
      },
    ])
    expect(notes.map(({ text }) => text)).toEqual([expect.stringContaining('User=www')])
  })

  it('may count from its last start or finish, or name one moment', () => {
    const read = (settings: string) => readTimer(timer(settings)).jobs[0]?.body.trigger
    expect(read('OnBootSec=5min\nOnUnitActiveSec=1h')).toEqual({ every: 3_600_000, from: 'start' })
    expect(read('OnUnitInactiveSec=30s')).toEqual({ every: 30_000, from: 'finish' })
    expect(read('OnCalendar=2027-07-01 12:00')).toEqual({ at: '2027-07-01T10:00:00.000Z' })
    expect(read('OnCalendar=2027-02-30 12:00')).toBeUndefined()
  })

  it('without its service is left to a person', () => {
    const { jobs, notes } = readTimer({ ...timer('OnCalendar=daily'), service: null })
    expect(jobs).toEqual([])
    expect(notes).toEqual([
      { line: 1, text: expect.stringContaining('sync.service'), isConverted: false },
    ])
  })
})

describe('a CronJob', () => {
  const manifest = `kind: ConfigMap
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: report, namespace: ops }
spec:
  schedule: "0 6 * * 1-5"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 200
  suspend: true
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: 600
      template:
        spec:
          containers:
            - image: example/report:1
              command: [report]
              args: [--all]
              env: [{ name: A, value: "1" }, { name: KEY, valueFrom: {} }]
---
kind: CronJob
metadata: { name: bare }
spec:
  schedule: "0 6 * * *"
  jobTemplate: { spec: { template: { spec: { containers: [{ image: x }] } } } }
`

  it('keeps its policies', () => {
    const { jobs, notes } = readCronJobs(manifest, { zone: 'UTC' })
    expect(jobs).toHaveLength(1)
    expect(jobs[0]).toMatchObject({ definition: 'report', isSuspended: true, line: 3 })
    expect(jobs[0]!.body).toMatchObject({
      trigger: { cron: '0 6 * * 1-5', timezone: 'Europe/Berlin' },
      action: { kind: 'command', argv: ['report', '--all'], env: { A: '1' } },
      overlap: 'skip',
      missed: 'once',
      late_limit_seconds: 200,
      timeout_seconds: 600,
      retry: { limit: 2, exhausted: 'next' },
    })
    expect(notes.filter(({ isConverted }) => !isConverted)).toEqual([
      { line: 24, text: expect.stringContaining('bare'), isConverted: false },
    ])
  })

  it('that is not YAML is told with its line', () => {
    const { notes } = readCronJobs('kind: CronJob\nmetadata: }', { zone: 'UTC' })
    expect(notes[0]).toMatchObject({ line: 2, isConverted: false })
  })
})

describe('an interval has the moments of', () => {
  const now = Date.parse('2027-01-10T00:00:00Z')
  it.each([
    ['*/15 * * * *', 'Europe/Berlin', '15m', '1970-01-01T00:00:00.000Z'],
    ['30 * * * *', 'UTC', '1h', '1970-01-01T00:30:00.000Z'],
    ['15 */6 * * *', 'UTC', '6h', '1970-01-01T00:15:00.000Z'],
    ['0 0 * * *', 'Asia/Tokyo', '1d', '1970-01-01T15:00:00.000Z'],
    ['0 0,12 * * *', 'UTC', '12h', '1970-01-01T00:00:00.000Z'],
    ['@weekly', 'UTC', '7d', '1970-01-04T00:00:00.000Z'],
  ])('%s in %s', (cron, zone, every, anchor) => {
    expect(intervalOf(cron, zone, now)).toEqual({ every, anchor })
  })

  it.each([
    ['0 0 * * *', 'Europe/Berlin', 'Europe/Berlin has clock changes'],
    ['0 * * * *', 'Australia/Lord_Howe', 'Australia/Lord_Howe has clock changes'],
    ['*/7 * * * *', 'UTC', 'gaps of 4 min and 7 min'],
    ['0 9 * * 1-5', 'UTC', 'weekdays are not equally spaced'],
  ])('no interval has those of %s in %s, and it says why', (cron, zone, reason) => {
    expect(intervalOf(cron, zone, now)).toEqual({ reason: expect.stringContaining(reason) })
  })
})
