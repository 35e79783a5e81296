// Choosing suites, counting what they did, and the lines printed about it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { countCommand, countTests, formatSummary } from './results.ts'
import { turnsOf } from './run.ts'
import { presentSuites, selectSuites } from './select.ts'
import { suites } from './table.ts'

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

describe('choosing suites', () => {
  const root = mkdtempSync(join(tmpdir(), 'carillon-suites-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('leaves out folders that are missing or hold no test', () => {
    mkdirSync(join(root, 'tests/simulation'), { recursive: true })
    mkdirSync(join(root, 'tests/cron/deep'), { recursive: true })
    writeFileSync(join(root, 'tests/simulation/world.ts'), '')
    writeFileSync(join(root, 'tests/cron/deep/a.test.ts'), '')
    expect(names(presentSuites(root))).toEqual(['format', 'types', 'lint', 'build', 'tidy', 'cron'])
  })

  it('keeps the order of the table, whatever order was asked for', () => {
    expect(names(selectSuites(suites, 'cron, unit,types'))).toEqual(['types', 'unit', 'cron'])
  })

  it('names an unknown suite and the ones there are', () => {
    expect(() => selectSuites(suites, 'unit,unti')).toThrow(/unknown suite "unti"; .*unit, cron/)
  })
})

describe('the turns of the suites', () => {
  it('are one suite each, but for neighbours that share the machine', () => {
    const turns = turnsOf(selectSuites(suites, 'unit,docs,end-to-end,dashboard,cli,packaging'))
    expect(turns.map(names)).toEqual([
      ['unit'],
      ['docs'],
      ['end-to-end', 'dashboard', 'cli'],
      ['packaging'],
    ])
  })
})

describe('counting', () => {
  const file = (status: string, ...assertionResults: { fullName: string; status: string }[]) => ({
    name: '/repo/src/a.test.ts',
    status,
    assertionResults,
  })

  it('counts a command as one check', () => {
    expect(countCommand('lint', 0)).toMatchObject({ passed: 1, failed: 0, failures: [] })
    expect(countCommand('lint', 3)).toMatchObject({ failed: 1, failures: ['lint (exit code 3)'] })
  })

  it('counts tests by status and names the failed ones', () => {
    const good = { fullName: 'a holds', status: 'passed' }
    const bad = { fullName: 'b holds', status: 'failed' }
    const left = { fullName: 'c holds', status: 'skipped' }
    expect(countTests({ testResults: [file('failed', good, bad, left)] }, 1, '/repo')).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: ['src/a.test.ts > b holds'],
    })
  })

  it('counts a file that does not load, a missing report and an unexplained exit', () => {
    const broken = countTests({ testResults: [file('failed')] }, 1, '/repo')
    expect(broken.failures).toEqual(['src/a.test.ts (did not load)'])
    expect(countTests(undefined, 0, '/repo').failed).toBe(1)
    expect(countTests({ testResults: [] }, 1, '/repo').failed).toBe(1)
  })
})

describe('the summary', () => {
  const result = { seconds: 1.25, passed: 3, failed: 0, skipped: 0, failures: [] }

  it('ends with the sum alone on a line', () => {
    const results = [
      { ...result, name: 'unit' },
      { ...result, name: 'cron', failed: 1, skipped: 2, failures: ['a.test.ts > b'] },
    ]
    const text = formatSummary(results, 2.04)
    expect(text.split('\n')).toEqual([
      'Failed:',
      '  cron: a.test.ts > b',
      '',
      'unit              1.3 s   3 passed, 0 failed',
      'cron              1.3 s   3 passed, 1 failed, 2 skipped',
      'all               2.0 s   6 passed, 1 failed, 2 skipped',
      '',
      '6 passed, 1 failed',
    ])
  })
})
