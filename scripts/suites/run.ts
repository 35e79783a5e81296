// Runs one suite as a child process. Its output is kept back and shown only if it fails.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { countCommand, countTests } from './results.ts'
import type { Report, Result } from './results.ts'
import type { CommandSuite, Suite, TestSuite } from './table.ts'

interface Finished {
  readonly exitCode: number
  readonly output: string
}

export interface SuiteRun {
  readonly result: Result
  readonly output: string
}

/** The child writes to a pipe: whether colours make sense is for this process to say. */
const childEnv = (): NodeJS.ProcessEnv => {
  const { FORCE_COLOR: _force, NO_COLOR: _no, ...env } = process.env
  return process.stdout.isTTY ? { ...env, FORCE_COLOR: '1' } : { ...env, NO_COLOR: '1' }
}

const runProcess = (root: string, file: string, args: readonly string[]): Promise<Finished> =>
  new Promise(resolve => {
    const isWindows = process.platform === 'win32'
    const shell = isWindows && file === 'npm'
    const child = spawn(file, args, { cwd: root, shell, env: childEnv() })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', error => resolve({ exitCode: 1, output: String(error.stack) }))
    child.on('close', code =>
      resolve({ exitCode: code ?? 1, output: Buffer.concat(chunks).toString('utf8') }),
    )
  })

const runCommand = async (root: string, { name, script }: CommandSuite) => {
  const { exitCode, output } = await runProcess(root, 'npm', ['run', '--silent', script])
  return { output, counts: countCommand(name, exitCode) }
}

const readReport = (path: string): Report | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Report) : undefined

const runTests = async (root: string, suite: TestSuite) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-tests-'))
  const reportPath = join(folder, 'report.json')
  try {
    const { exitCode, output } = await runProcess(root, process.execPath, [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      `--project=${suite.name}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${reportPath}`,
      ...(suite.isSerial === true ? ['--no-file-parallelism'] : []),
    ])
    return { output, counts: countTests(readReport(reportPath), exitCode, root) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const runSuite = async (root: string, suite: Suite): Promise<SuiteRun> => {
  const startedAt = performance.now()
  const run = suite.kind === 'command' ? runCommand(root, suite) : runTests(root, suite)
  const { output, counts } = await run
  const seconds = (performance.now() - startedAt) / 1000
  return { output, result: { name: suite.name, seconds, ...counts } }
}

const shares = (suite?: Suite) => suite?.kind === 'tests' && suite.sharesMachine === true

/** The suites in the order they run: those of one turn run beside each other. */
export const turnsOf = (suites: readonly Suite[]): Suite[][] => {
  const turns: Suite[][] = []
  for (const suite of suites) {
    const last = turns.at(-1)
    if (shares(suite) && shares(last?.[0])) last!.push(suite)
    else turns.push([suite])
  }
  return turns
}

/** Runs the suites of a turn, two at a time; false from `onEnd` keeps the rest from starting. */
export const runTurn = async (
  root: string,
  turn: readonly Suite[],
  onEnd: (run: SuiteRun) => boolean,
): Promise<boolean> => {
  const waiting = [...turn]
  let goesOn = true
  const runOneAfterAnother = async () => {
    for (let next = waiting.shift(); next && goesOn; next = waiting.shift()) {
      goesOn = onEnd(await runSuite(root, next)) && goesOn
    }
  }
  await Promise.all([runOneAfterAnother(), runOneAfterAnother()])
  return goesOn
}
