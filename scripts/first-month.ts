// npm run first-month: the first-month tests, and how long each case really took, by the id of its rule.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string
      readonly status: string
      readonly duration?: number
    }[]
  }[]
}

const folder = mkdtempSync(join(tmpdir(), 'carillon-first-month-'))
const outputFile = join(folder, 'report.json')
const { status } = spawnSync(
  process.execPath,
  [
    join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--project',
    'first-month',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${outputFile}`,
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
)

const report = JSON.parse(readFileSync(outputFile, 'utf8')) as TestReport
rmSync(folder, { recursive: true })
const cases = report.testResults
  .flatMap(file => file.assertionResults)
  .map(one => ({ ...one, id: /^([A-Z]\d+)/.exec(one.title)?.[1] ?? 'other' }))
  .toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))
for (const { title, status: outcome, duration = 0 } of cases) {
  console.log(`${(duration / 1_000).toFixed(2).padStart(8)} s  ${outcome.padEnd(7)} ${title}`)
}
const guards = cases.filter(({ title }) => title.includes('(guard)')).length
const seconds = cases.reduce((sum, { duration = 0 }) => sum + duration, 0) / 1_000
console.log(
  `\n${cases.length} cases, ${guards} of them guards of what already held, ${seconds.toFixed(0)} s in all`,
)
process.exitCode = status ?? 1
