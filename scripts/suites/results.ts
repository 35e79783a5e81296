// Counts what a suite did, from vitest's JSON report or from the exit code of a command.

export interface Result {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Full names of what failed. */
  readonly failures: readonly string[]
}

interface Assertion {
  readonly fullName: string
  readonly status: string
}

interface FileReport {
  readonly name: string
  readonly status: string
  readonly assertionResults: readonly Assertion[]
}

export interface Report {
  readonly testResults: readonly FileReport[]
}

export type Counts = Omit<Result, 'name' | 'seconds'>

export const countCommand = (name: string, exitCode: number): Counts => {
  const isGood = exitCode === 0
  const failures = isGood ? [] : [`${name} (exit code ${exitCode})`]
  return { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1, skipped: 0, failures }
}

/** A file that failed without a failed test in it did not load, and counts as one failure. */
const fileFailures = (file: FileReport, root: string): string[] => {
  const path = file.name.replace(root, '').replace(/^[\\/]/, '')
  const failed = file.assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length > 0) return failed.map(({ fullName }) => `${path} > ${fullName.trim()}`)
  return file.status === 'failed' ? [`${path} (did not load)`] : []
}

/** A missing report, or a bad exit with no failed test to show for it, counts as one failure. */
export const countTests = (report: Report | undefined, exitCode: number, root: string): Counts => {
  const files = report?.testResults ?? []
  const statuses = files.flatMap(file => file.assertionResults.map(({ status }) => status))
  const failures = files.flatMap(file => fileFailures(file, root))
  if (failures.length === 0 && (exitCode !== 0 || report === undefined)) {
    failures.push(`the test runner itself (exit code ${exitCode})`)
  }
  const passed = statuses.filter(status => status === 'passed').length
  const skipped = statuses.filter(status => !['passed', 'failed'].includes(status)).length
  return { passed, failed: failures.length, skipped, failures }
}

export const formatResult = ({ name, seconds, passed, failed, skipped }: Result): string => {
  const more = skipped > 0 ? `, ${skipped} skipped` : ''
  const time = `${seconds.toFixed(1)} s`
  return `${name.padEnd(14)}${time.padStart(9)}   ${passed} passed, ${failed} failed${more}`
}

/** What failed, what was missing, the table and, alone on the last line, the sum. */
export const formatSummary = (
  results: readonly Result[],
  seconds: number,
  missing: readonly string[] = [],
): string => {
  const failures = results.flatMap(result => result.failures.map(f => `  ${result.name}: ${f}`))
  const sum = (key: 'passed' | 'failed' | 'skipped') =>
    results.reduce((total, result) => total + result[key], 0)
  const total = {
    name: 'all',
    seconds,
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: [],
  }
  return [
    ...(failures.length > 0 ? ['Failed:', ...failures, ''] : []),
    ...(missing.length > 0 ? ['Skipped tests:', ...missing.map(text => `  ${text}`), ''] : []),
    ...results.map(formatResult),
    formatResult(total),
    '',
    `${total.passed} passed, ${total.failed} failed`,
  ].join('\n')
}
