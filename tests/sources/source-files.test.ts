// Definitions from files: several to a file, folders, every problem of every file, and the command.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { readDefinitions } from '../../src/move/source-files.ts'
import { PERIOD_RULE } from '../../src/sources/schedule.ts'
import { ensureBuilt, Place } from '../cli/program.ts'

/** Compiling may take a while when it was not done before. */
const BUILD_MS = 180_000

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-definitions-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function put(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const yaml = (name: string, more = '') => `name: ${name}
url: https://api.example.com/${name}
table: ${name}
${more}
response:
  dataPath: .
  fields:
    - { source: id, target: id }
`

function problemsOf(...paths: string[]): string[] {
  try {
    readDefinitions(paths)
    return []
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error
    return error.problems.map(({ field, rule }) => `${field.replace(folder, '')} ${rule}`)
  }
}

describe('C1: files', () => {
  test('YAML, several to a file, JSON, and a folder of them in the order of names', () => {
    put('b.yaml', `${yaml('two')}---\n${yaml('three')}`)
    put(
      'a.json',
      JSON.stringify({
        name: 'one',
        url: 'https://a.example/',
        table: 't',
        response: { fields: [{ source: 'a', target: 'a' }] },
      }),
    )
    put('c.yml', `- ${yaml('four').replaceAll('\n', '\n  ')}`)
    put('notes.txt', 'not a definition')
    const found = readDefinitions([folder])
    expect(found.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'four'])
    expect(found.map(({ place }) => place.replace(`${folder}/`, ''))).toEqual([
      'a.json',
      'b.yaml#1',
      'b.yaml#2',
      'c.yml',
    ])
  })

  test('every problem of every file, with its place', () => {
    put('a.yaml', yaml('a', 'schedule: weekly'))
    put('b.yaml', `${yaml('b')}---\n${yaml('b', 'execution: { retryResetPeriod: 1x }')}`)
    put('c.yaml', '{ name: [')
    put('d.yaml', '')
    put('e.yaml', 'just a text')
    put('f.yaml', yaml('b'))
    put('g.yaml', 'name: a\nurl: x\nname: b\n')
    expect(problemsOf(folder)).toEqual([
      '/a.yaml: schedule must be daily, hourly or interval:<N><s|m|h>, such as interval:15m',
      `/b.yaml#2: execution.retryResetPeriod ${PERIOD_RULE}`,
      expect.stringMatching(/^\/c.yaml is neither YAML nor JSON at line 1/),
      '/d.yaml is empty',
      '/e.yaml: source must be an object',
      '/g.yaml is neither YAML nor JSON at line 3: duplicate key',
      expect.stringMatching(/^\/f.yaml: name is used in .*b.yaml#1 already$/),
    ])
  })

  test('what is not there, holds nothing or is too much is refused', () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect(problemsOf(join(folder, 'nothing.yaml'))).toEqual(['/nothing.yaml does not exist'])
    expect(problemsOf(empty)[0]).toContain('/empty holds no file that ends with')
    put('large.yaml', `# ${'x'.repeat(1024 * 1024)}`)
    expect(problemsOf(folder)).toEqual(['/large.yaml is larger than 1 MiB'])
  })

  test('aliases that multiply are refused', () => {
    const layers = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 8; i++) {
      const [name, before] = [String.fromCodePoint(97 + i), String.fromCodePoint(96 + i)]
      layers.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`)
    }
    put('bomb.yaml', layers.join('\n'))
    expect(problemsOf(folder)).toEqual(['/bomb.yaml has aliases that cannot be resolved'])
  })
})

beforeAll(ensureBuilt, BUILD_MS)

test('C10: the command adds, updates, lists and deletes; a wrong file changes nothing', async () => {
  const place = new Place()
  onTestFinished(() => place.close())
  const run = (...args: string[]) => place.run(['source', ...args])
  const good = put('good.yaml', yaml('rates'))
  const wrong = put('wrong.yaml', yaml('other', 'schedule: weekly\ncolour: red'))
  const refused = await run('add', good, wrong)
  expect(refused.code).toBe(2)
  expect(refused.err).toContain('schedule must be daily')
  expect(refused.err).toContain('colour is not known')
  expect((await run('add', good, '-q')).code).toBe(0)
  put('good.yaml', yaml('rates', 'schedule: hourly'))
  expect((await run('update', good, '-q')).code).toBe(0)
  const { out } = await run('list', '--plain', '--columns', 'name,schedule,status')
  expect(out).toBe('rates\thourly\tactive\n')
  expect((await run('delete', 'rates', 'nothing', '--rows', '--yes')).code).toBe(8)
})
