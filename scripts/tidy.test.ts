// Each check on a small tree that passes and one that does not; then all of them on this repository.

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkAmbient } from './tidy/ambient.ts'
import { formatProblem, runChecks } from './tidy/checks.ts'
import { checkBarrels, checkCycles } from './tidy/cycles.ts'
import { checkHeaders } from './tidy/headers.ts'
import { checkMarks } from './tidy/marks.ts'
import { checkSizes } from './tidy/sizes.ts'
import { makeTree, readTree } from './tidy/tree.ts'
import type { Check } from './tidy/tree.ts'
import { checkWords } from './tidy/words.ts'

type Files = Readonly<Record<string, string>>

const found = (check: Check, files: Files): string[] =>
  check(makeTree(files)).map(({ path, line, message }) => `${path}:${line} ${message}`)

const lines = (count: number, text = 'x()'): string => `${text}\n`.repeat(count)

describe('cycles', () => {
  it('accepts a chain', () => {
    const files = { 'src/core/a.ts': "import { b } from './b.ts'", 'src/core/b.ts': 'export {}' }
    expect(found(checkCycles, files)).toEqual([])
  })

  it('reports a cycle once, types included', () => {
    const files = {
      'src/core/a.ts': "import { b } from './b.ts'",
      'src/core/b.ts': "import type { C } from './c.ts'",
      'src/core/c.ts': "export * from './a.ts'",
    }
    expect(found(checkCycles, files)).toEqual([
      'src/core/a.ts:1 src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
    ])
  })
})

describe('barrels', () => {
  const text = "// All of it.\nexport * from './a.ts'\nexport type { B } from './b.ts'\n"

  it('accepts an index.ts, and a file that re-exports beside its own code', () => {
    const files = { 'src/core/index.ts': text, 'src/core/c.ts': `${text}export const c = 1\n` }
    expect(found(checkBarrels, files)).toEqual([])
  })

  it('reports any other file that only re-exports', () => {
    expect(found(checkBarrels, { 'src/core/all.ts': text })).toHaveLength(1)
  })
})

describe('sizes', () => {
  const body = (count: number) => `const f = () => {\n${lines(count)}}\n`

  it('accepts what keeps to the targets', () => {
    expect(found(checkSizes, { 'src/a.ts': body(48), 'docs/a.md': lines(900) })).toEqual([])
  })

  it('warns over the target and fails over the limit', () => {
    const problems = checkSizes(
      makeTree({
        'src/a.ts': lines(251),
        'src/b.ts': lines(401),
        'tests/c.ts': body(49),
        'tests/d.ts': body(69),
        'bench/e.ts': 'x'.repeat(111),
        'src/dashboard/f.css': lines(201),
        'src/dashboard/g.css': lines(401),
      }),
    )
    expect(problems.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'warning: file of 251 lines (target 250)',
      'error: file of 401 lines (limit 400)',
      'warning: function of 51 lines (target 50)',
      'error: function of 71 lines (limit 70)',
      'error: line of 111 characters (limit 110)',
      'warning: file of 201 lines (target 200)',
      'error: file of 401 lines (limit 400)',
    ])
  })
})

describe('ambient', () => {
  const reading = 'const now = Date.now()\nconst id = randomUUID()\nconst d = new Date()\n'

  it('accepts given times, microtasks, and the files where time and chance enter', () => {
    const given = '// Date.now() is for others\nconst d = new Date(now)\nqueueMicrotask(f)\n'
    const files = { 'src/core/a.ts': given, 'src/runtime/clock.ts': reading, 'tests/a.ts': reading }
    expect(found(checkAmbient, files)).toEqual([])
  })

  it('reports every way to reach for time or chance', () => {
    const calls = 'setTimeout(f, 1)\nsetImmediate(f)\nMath.random()\nperformance.now()\nnew Date\n'
    const more = "process.hrtime.bigint()\nimport { setTimeout as s } from 'node:timers/promises'\n"
    expect(found(checkAmbient, { 'src/engine/a.ts': reading })).toHaveLength(3)
    expect(found(checkAmbient, { 'src/service/b.ts': calls + more })).toHaveLength(7)
  })
})

describe('glossary', () => {
  it('accepts the words of the field, and any word in comments, strings and elsewhere', () => {
    const files = {
      'src/engine/a.ts': "// no cronjob\nconst pollMs = 'sched', lockToken = 1, enqueue = 2\n",
      'src/observe/a.ts': 'const processor = 1\n',
    }
    expect(found(checkWords, files)).toEqual([])
  })

  it('reports a banned word inside an identifier, with the one to use', () => {
    const text = 'const jobProcessor = 1\nconst x = { SCHED_TOKEN: 3, cronjobs: 4 }\n'
    expect(found(checkWords, { 'src/core/a.ts': text })).toEqual([
      'src/core/a.ts:1 jobProcessor: say handler, not processor',
      'src/core/a.ts:2 SCHED_TOKEN: say trigger or job, not sched',
      'src/core/a.ts:2 cronjobs: say job, not cronjob',
    ])
  })
})

describe('marks', () => {
  const off = ['lint', 'dis'].join('-') + 'able'

  it('accepts prose, and switches that carry a reason', () => {
    const text = [
      ['// as a', 'ny other'].join(''),
      `// ox${off}-next-line no-console -- it is a CLI`,
      ['// @ts-expect', '-error a number is no trigger'].join(''),
    ]
    expect(found(checkMarks, { 'tests/a.ts': text.join('\n') })).toEqual([])
  })

  it.each([
    ['focused test', ['it.on', "ly('x', f)"]],
    ['skipped test', ['describe.sk', "ip('x', f)"]],
    ['note to self: finish it or open an issue', ['// TO', 'DO later']],
    ['untyped value: use unknown and narrow it', ['const x = y as a', 'ny']],
    ['untyped value: use unknown and narrow it', ['let x: a', 'ny']],
    ['type checking switched off', ['// @ts-ig', 'nore because']],
    ['expected type error without a reason after it', ['// @ts-expect', '-error']],
    ['lint rule switched off without `-- reason` after it', [`// es${off}`, '-line']],
  ])('reports: %s', (message, halves) => {
    expect(found(checkMarks, { 'src/a.ts': halves.join('') })).toEqual([`src/a.ts:1 ${message}`])
  })
})

describe('headers', () => {
  it('accepts one to three comment lines, after a shebang too', () => {
    const files = {
      'src/a.ts': '// One.\n\nx()',
      'src/b.ts': '#!/usr/bin/env node\n// 1\n// 2\nx()',
    }
    expect(found(checkHeaders, files)).toEqual([])
    expect(found(checkHeaders, { 'src/c.ts': '/* 1\n * 2\n */\n', 'tests/d.ts': 'x()' })).toEqual(
      [],
    )
  })

  it('reports a missing header and a long one', () => {
    const files = {
      'src/a.ts': 'x()\n',
      'src/b.sql': `${lines(4, '-- step')}SELECT 1`,
      'src/c.ts': '',
    }
    expect(found(checkHeaders, files)).toEqual([
      'src/a.ts:1 no comment at the top of the file',
      'src/b.sql:1 header of 4 lines (limit 3)',
      'src/c.ts:1 no comment at the top of the file',
    ])
  })
})

it('finds nothing to complain about in this repository', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const problems = runChecks(readTree(root)).filter(({ level }) => level === 'error')
  expect(problems.map(formatProblem)).toEqual([])
})
