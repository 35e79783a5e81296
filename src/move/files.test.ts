// Jobs into files and out of them.

import { describe, expect, it } from 'vitest'
import type { Job } from '../client/types.ts'
import { readJobsFile } from './jobs-file.ts'
import { momentsOf } from './moments.ts'
import { toCrontab } from './to-crontab.ts'
import { toFile } from './to-file.ts'
import { toIcs } from './to-ics.ts'

/** As the service shows it, as far as it matters here. */
function job(more: Partial<Job>): Job {
  const plain = {
    id: 'a',
    name: 'a',
    tenant: 'default',
    status: 'scheduled',
    is_paused: false,
    declared_by: null,
    source_id: null,
    source_name: null,
    next_run_at: '2027-03-27T01:30:00.000Z',
    trigger: { cron: '30 2 * * *', timezone: 'Europe/Berlin', dialect: 'extended', dst: null },
    handler: 'action:command',
    action: { kind: 'command', shell: 'x' },
    payload: null,
    user_id: null,
    priority: 3,
    queue: 'default',
    retry: { limit: 0 },
    timeout_seconds: null,
    overlap: 'allow',
    missed: 'skip',
    first: 'next',
    start_at: null,
    end_at: null,
    run_limit: null,
    jitter_seconds: 0,
    grace_seconds: 60,
    late_limit_seconds: null,
    retention: { attempts: 100, age_seconds: 2_592_000 },
    tags: [],
    metadata: {},
  }
  return { ...plain, ...more } as unknown as Job
}

describe('a file of jobs', () => {
  it('tells everything that is wrong with its line', () => {
    const text = `app: x
jobs:
  - name: a
    trigger:
      cron: '61 * * * *'
    action: { kind: command, shell: x,
      env: { TOKEN: '***' } }
  - trigger: { every: 1h }
more: 1
`
    const { app, jobs, problems } = readJobsFile('j.yaml', text)
    expect(app).toBe('x')
    expect(jobs.map(({ definition, line }) => [definition, line])).toEqual([['a', 3]])
    expect(problems.map(({ line, text: what }) => `${line} ${what}`)).toEqual([
      expect.stringMatching(/^9 more is not known/),
      expect.stringMatching(/^5 a: trigger.cron .*out of range/),
      expect.stringMatching(/^7 a: action.env.TOKEN is hidden/),
      expect.stringMatching(/^8 name is needed/),
    ])
  })

  it.each([
    ['jobs: [', 1],
    ['- 1', 1],
    ['jobs:\n  - name: a\n  - name: a\n   x: 1', 4],
  ])('that is not one is refused: %j', (text, line) => {
    expect(readJobsFile('j', text).problems[0]).toMatchObject({ line })
  })

  it('holds what a person said and nothing that follows from it', () => {
    const { jobs, lost } = toFile([
      job({ priority: 5, trigger: { every: 900_000, from: 'schedule', anchor: null } }),
      job({ action: { kind: 'http', headers: { Auth: '***' } }, is_paused: true }),
      job({ id: 'default:shop:b:k', name: 'label', declared_by: 'shop' }),
    ])
    expect(jobs[0]).toEqual({
      name: 'a',
      trigger: { every: '15m' },
      action: { kind: 'command', shell: 'x' },
      priority: 5,
      retry: { limit: 0 },
      timeout_seconds: null,
      overlap: 'allow',
      missed: 'skip',
    })
    expect(jobs[1]).toMatchObject({ name: 'a', key: '2' })
    expect(jobs[2]).toMatchObject({ name: 'label', definition: 'b', key: 'k' })
    expect(lost.map(({ text }) => text)).toEqual([
      expect.stringContaining('action.headers.Auth'),
      expect.stringContaining('paused'),
    ])
  })
})

describe('a crontab made of jobs', () => {
  it('has a line for each command at a time cron can name', () => {
    const { text, lost } = toCrontab([
      job({ action: { kind: 'command', shell: 'date +%s', stdin: 'a\nb\n', cwd: '/a b' } }),
      job({
        name: 'b',
        trigger: { every: 1_200_000, from: 'schedule', anchor: '2027-01-01T00:07:00Z' },
        action: { kind: 'command', argv: ['/x', "it's"] },
      }),
      job({ name: 'c', trigger: { cron: '15 0 4 * * *', timezone: 'UTC' } }),
      job({ name: 'd', action: { kind: 'http' } }),
      job({ name: 'e', trigger: { cron: '0 0 L * *' } }),
      job({ name: 'f', missed: 'once', timeout_seconds: 60 }),
    ])
    expect(text.split('\n')).toEqual([
      'CRON_TZ=Europe/Berlin',
      '# name: a',
      String.raw`30 2 * * * cd '/a b' && date +\%s%a%b`,
      '# name: f',
      '30 2 * * * x',
      'CRON_TZ=UTC',
      '# name: b',
      String.raw`7-59/20 * * * * /x 'it'\''s'`,
      '',
    ])
    expect(lost.map(({ name, text: what }) => `${name} ${what}`)).toEqual([
      'c left out: cron has no seconds',
      'd left out: http is no command',
      'e left out: 0 0 L * * names days cron cannot',
      'f cron has no catching up, time limit',
    ])
  })
})

describe('a calendar of runs', () => {
  const now = Date.parse('2027-03-27T00:00:00Z')

  it('follows the clock of the zone through its changes', () => {
    const { text, lost } = toIcs(
      [job({}), job({ name: 'b', next_run_at: null, status: 'paused' })],
      {
        now,
        days: 3,
      },
    )
    const lines = text.split('\r\n')
    expect(lines.filter(line => line.startsWith('DTSTART;'))).toEqual([
      'DTSTART;TZID=Europe/Berlin:20270327T023000',
      'DTSTART;TZID=Europe/Berlin:20270328T030000',
      'DTSTART;TZID=Europe/Berlin:20270329T023000',
    ])
    expect(text).toContain(
      'BEGIN:DAYLIGHT\r\nDTSTART:20270328T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n',
    )
    expect(lines.every(line => Buffer.byteLength(line) <= 75)).toBe(true)
    expect(lost).toEqual([{ name: 'b', text: expect.stringContaining('paused') }])
  })

  it('says when a job fires too often for it', () => {
    const { text, lost } = toIcs([job({ name: 'ä'.repeat(80), trigger: { every: 1_000 } })], {
      now,
      days: 1,
    })
    expect(text.match(/BEGIN:VEVENT/g)).toHaveLength(500)
    expect(text.replaceAll('\r\n ', '')).toContain(`SUMMARY:${'ä'.repeat(80)}`)
    expect(lost[0]!.text).toContain('500')
  })
})

describe('the next moments of a trigger', () => {
  const now = Date.parse('2027-01-01T00:00:00Z')
  it.each([
    [{ every: '1h' } as const, null, ['01:00', '02:00']],
    [{ every: 3_600_000, anchor: '2026-01-01T00:30:00Z' }, null, ['00:30', '01:30']],
    [{ cron: '15 * * * *' }, null, ['00:15', '01:15']],
    [{ cron: '15 * * * *' }, now + 60_000, ['00:01', '00:15']],
    [{ at: '2027-01-01T05:00:00Z' }, null, ['05:00']],
    [{ at: '2026-01-01T05:00:00Z' }, null, []],
    [{ manual: true } as const, null, []],
    [{ cron: 'nonsense' }, null, []],
  ])('%j from %s', (trigger, next, times) => {
    const found = momentsOf({ trigger, next, now, count: 2 })
    expect(found.map(at => new Date(at).toISOString().slice(11, 16))).toEqual(times)
  })
})
