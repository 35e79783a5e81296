// A crontab as people have them, line by line.

import { describe, expect, it } from 'vitest'
import { commandName } from './command-name.ts'
import { readCrontab } from './crontab.ts'

const read = (text: string, isSystem = false) => readCrontab(text, { zone: 'UTC', isSystem })
const action = (text: string) => read(text).jobs[0]!.body.action

describe('a crontab', () => {
  it('S6 has variables that hold for the lines below them, and the folder of cron', () => {
    const { jobs } = read(
      'A=1\n0 1 * * * one\nCRON_TZ=Asia/Tokyo\nB = "two words"\nSHELL=/bin/bash\nHOME=/srv\n0 2 * * * two',
    )
    expect(jobs[0]!.body).toMatchObject({
      trigger: { cron: '0 1 * * *', timezone: 'UTC' },
      action: { kind: 'command', shell: 'one', cwd: '~', env: { A: '1', SHELL: '/bin/sh' } },
    })
    const named = { A: '1', B: 'two words', SHELL: '/bin/bash', HOME: '/srv' }
    expect(jobs[1]!.body).toMatchObject({
      trigger: { cron: '0 2 * * *', timezone: 'Asia/Tokyo' },
      action: { argv: ['/bin/bash', '-c', 'two'], cwd: '/srv', env: named },
    })
  })

  it('keeps the meaning of cron: side by side, nothing made up for, no second try', () => {
    expect(read('* * * * * x').jobs[0]!.body).toMatchObject({
      overlap: 'allow',
      missed: 'skip',
      retry: { limit: 0, exhausted: 'next' },
      timeout_seconds: null,
    })
  })

  it('has input behind a bare percent sign', () => {
    expect(action('0 1 * * * mail -s 50\\% ops%dear%all')).toMatchObject({
      shell: 'mail -s 50% ops',
      stdin: 'dear\nall\n',
    })
  })

  it('names users where it is the one of the system', () => {
    const { jobs, notes } = read(
      '17 * * * *\troot  cd / && run-parts /etc/cron.hourly\n1 1 * * * root',
      true,
    )
    expect(jobs).toHaveLength(1)
    expect(jobs[0]!.body.tags).toEqual(['crontab', 'user:root'])
    expect(jobs[0]!.body.action).toMatchObject({ shell: 'cd / && run-parts /etc/cron.hourly' })
    expect(notes.map(({ line, isConverted }) => [line, isConverted])).toEqual([
      [1, true],
      [2, false],
    ])
  })

  it.each([
    ['@daily x', '0 0 * * *'],
    ['@Weekly x', '0 0 * * 0'],
    ['-*/5 * * * * x', '*/5 * * * *'],
    ['0 0 * jan-mar mon-fri x', '0 0 * jan-mar mon-fri'],
    ['0 0 * * 5-7 x', '0 0 * * 5-6,0'],
  ])('reads %s as %s', (line, cron) => {
    expect(read(line).jobs[0]!.body.trigger).toEqual({ cron, timezone: 'UTC' })
  })

  it.each([
    ['@reboot x', /@reboot/],
    ['@often x', /not known/],
    ['0~30 * * * * x', /random/],
    ['0 0 */2 * 1 x', /list the days/],
    ['61 * * * * x', /out of range/],
    ['* * * * *', /no command/],
    ['not a line', /five fields/],
  ])('leaves %s to a person', (line, words) => {
    const { jobs, notes } = read(`# c\n${line}`)
    expect(jobs).toEqual([])
    expect(notes).toEqual([{ line: 2, text: expect.stringMatching(words), isConverted: false }])
  })

  it('gives equal names a number and keys that stay when lines move', () => {
    const before = read('0 1 * * * /opt/a.sh x\n0 2 * * * /opt/a.sh y').jobs
    const after = read('0 5 * * * /opt/a.sh y\n0 1 * * * /opt/a.sh x').jobs
    expect(before.map(({ body }) => body.name)).toEqual(['a', 'a-2'])
    expect(after.map(({ key }) => key).toReversed()).toEqual(before.map(({ key }) => key))
  })

  it('takes a name from the comment above', () => {
    expect(read('# name: nightly\n0 1 * * * x').jobs[0]!.body.name).toBe('nightly')
  })
})

describe('a command is named after its program', () => {
  it.each([
    ['/usr/local/bin/backup.sh >/dev/null 2>&1', 'backup'],
    ['cd /srv && nice -n 10 flock -n /tmp/l /opt/sync --all', 'sync'],
    ['test -x /usr/sbin/anacron || ( cd / && run-parts x )', 'run-parts'],
    ['/usr/bin/env FOO=1 python3 -u /opt/report.py', 'report'],
    ['bash -c "echo hi"', 'echo hi'],
    ['TZ=UTC timeout 60 /opt/x', 'x'],
  ])('%s → %s', (line, name) => {
    expect(commandName(line)).toBe(name)
  })
})
