// What a command may be, and how a crontab line becomes one.

import { describe, expect, it } from 'vitest'
import { checkCommand, commandSettings, fromCrontab, shownCommand } from './settings.ts'

const parse = (given: object) => commandSettings.parse({ kind: 'command', ...given })
const problems = (given: object, isAllowed = true) =>
  checkCommand(parse(given), 'action', isAllowed)

describe('a command', () => {
  it('is refused at creation on a node that does not allow commands', () => {
    expect(problems({ argv: ['ls'] }, false)).toEqual([
      {
        field: 'action.kind',
        value: 'command',
        rule: 'must not be command: this node was not started to allow it',
      },
    ])
  })

  it.each([
    [{ argv: ['ls', '-l'] }, []],
    [{ shell: 'ls | wc -l' }, []],
    [{}, ['action.argv']],
    [{ argv: ['ls'], shell: 'ls' }, ['action.argv']],
    [{ argv: [''] }, ['action.argv.0']],
    [{ argv: ['ls', 'a\0b'] }, ['action.argv.1']],
    [{ shell: 'a\0b', cwd: '\0' }, ['action.shell', 'action.cwd']],
    [{ shell: 'a', env: { 'A B': '1', OK: '1', B: '\0' } }, ['action.env.A B', 'action.env.B']],
  ])('%j has the problems %j', (given, fields) => {
    expect(problems(given).map(({ field }) => field)).toEqual(fields)
  })

  it('is shown without the values of its variables', () => {
    const shown = shownCommand(parse({ shell: 'x', env: { TOKEN: 'canary' } }), { mayEdit: true })
    expect(shown.env).toEqual({ TOKEN: '***' })
  })

  it.each([
    [{ argv: ['mysql', '-pcanary'] }, { argv: ['mysql', '***'] }],
    [
      { shell: 'mysql -pcanary', stdin: 'canary' },
      { shell: '***', stdin: '***' },
    ],
  ])('S2 %j is shown whole to those who may edit it only', (given, masked) => {
    const settings = parse(given)
    expect(shownCommand(settings, { mayEdit: true })).toEqual(settings)
    expect(shownCommand(settings, { mayEdit: false })).toEqual({ ...settings, ...masked })
  })
})

describe('a crontab line', () => {
  it.each([
    ['echo hello', { shell: 'echo hello' }],
    ['date +\\%F', { shell: 'date +%F' }],
    ['cat%one%two', { shell: 'cat', stdin: 'one\ntwo\n' }],
    ['mail root%10\\% off%', { shell: 'mail root', stdin: '10% off\n\n' }],
    ["printf '\\n'", { shell: "printf '\\n'" }],
    ['a\\\\%b', { shell: 'a\\%b' }],
  ])('%j becomes %j', (line, parts) => {
    expect(fromCrontab(line)).toEqual(parts)
  })
})
