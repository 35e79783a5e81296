// The checks that look beyond TypeScript: error docs, leaks and conflict markers.

import { describe, expect, it } from 'vitest'
import { checkConflicts } from './conflicts.ts'
import { checkErrorDocs } from './error-docs.ts'
import { checkLeaks } from './leaks.ts'
import { makeTree } from './tree.ts'
import type { Check } from './tree.ts'

const found = (check: Check, files: Readonly<Record<string, string>>): string[] =>
  check(makeTree(files)).map(({ path, line, message }) => `${path}:${line} ${message}`)

describe('error docs', () => {
  const source = "export const errorCodes = {\n  JOB_LOST: 'gone',\n  JOB_ODD: 'odd',\n} as const\n"
  const array =
    "export const errorCodes = [\n  'JOB_LOST',\n  'JOB_ODD',\n] as const\nconst A_B = { C_D: 1 }\n"
  const path = 'docs/reference/errors.md'

  it('accepts equal sets, as table rows or headings, and a tree without errors', () => {
    const docs = '| Code | Means |\n|---|---|\n| `JOB_LOST` | gone |\n\n### `JOB_ODD`\n'
    expect(found(checkErrorDocs, {})).toEqual([])
    expect(found(checkErrorDocs, { 'src/core/errors.ts': source, [path]: docs })).toEqual([])
    expect(found(checkErrorDocs, { 'src/core/errors.ts': array, [path]: docs })).toEqual([])
  })

  it('reports a code without a description and a description without a code', () => {
    const files = { 'src/core/errors.ts': source, [path]: '## JOB_LOST\n## JOB_FOUND\n' }
    expect(found(checkErrorDocs, files)).toEqual([
      `src/core/errors.ts:3 JOB_ODD is not described in ${path}`,
      `${path}:2 JOB_FOUND does not exist in src/core/errors.ts`,
    ])
    expect(found(checkErrorDocs, { 'src/core/errors.ts': source })).toHaveLength(1)
    expect(found(checkErrorDocs, { 'src/core/errors.ts': 'x()' })).toHaveLength(1)
  })
})

describe('leaks', () => {
  it('accepts relative paths and addresses of other hosts', () => {
    const text = 'see ../builds/a, tests/home/b, https://example.org and ~/notes\n'
    expect(found(checkLeaks, { 'README.md': text, 'package-lock.json': '{}' })).toEqual([])
  })

  it('reports paths of a machine, registries and download addresses', () => {
    const text = [['', 'home', 'ann', 'x'].join('/'), ['https:/', 'registry.example.org'].join('/')]
    const lock = '"resolved": "https://host/x.tgz"'
    expect(found(checkLeaks, { 'a.md': text.join('\n'), 'package-lock.json': lock })).toHaveLength(
      3,
    )
  })
})

describe('conflict markers', () => {
  const ours = '<'.repeat(7)
  const base = '|'.repeat(7)
  const theirs = '>'.repeat(7)

  it('accepts underlined headings, quoted markers and longer rows of the same sign', () => {
    const text = `Title\n=======\n  ${ours} quoted\n${theirs}>\n${base}---|\n`
    expect(found(checkConflicts, { 'README.md': text })).toEqual([])
  })

  it('reports every marker git writes, in any kind of file', () => {
    const text = `a\n${ours} HEAD\nb\n${base} 1a2b3c4\nc\n=======\nd\n${theirs} 1a2b3c4 (tests: x)\n`
    const lines = [2, 4, 8]
    for (const path of ['CONTRIBUTING.md', 'src/a.ts', 'deploy.yml']) {
      expect(found(checkConflicts, { [path]: text })).toEqual(
        lines.map(line => `${path}:${line} merge-conflict marker`),
      )
    }
    expect(found(checkConflicts, { 'a.txt': `${ours}\r\n` })).toHaveLength(1)
  })
})
