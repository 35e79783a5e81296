// Processes of a user: programs that import the package, and the `carillon` command. Each ends with
// the test that started it.

import { spawn, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually } from '../../support/servers/wait.ts'
import { cliPath, workFolder } from './project.ts'

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Arguments of the program, in `process.argv` from index 2 on. */
  readonly args?: readonly string[]
  /** Options of node itself, such as `--max-old-space-size=256`. */
  readonly nodeArgs?: readonly string[]
  /** Other files in the folder of the program. */
  readonly files?: Readonly<Record<string, string>>
  /** The working folder; a new one by default. */
  readonly folder?: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export class Program {
  readonly folder: string
  readonly exited: Promise<Ended>
  stdout = ''
  stderr = ''
  readonly #child: ChildProcess

  constructor(args: readonly string[], folder: string, env: Readonly<Record<string, string>> = {}) {
    const { PATH, HOME } = process.env
    this.folder = folder
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { PATH, HOME, LANG: 'C.UTF-8', TZ: 'UTC', ...env },
    })
    this.#child = child
    child.stdin.on('error', () => {})
    child.stdout.on('data', (bytes: Buffer) => (this.stdout += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (this.stderr += bytes.toString()))
    this.exited = new Promise(resolve =>
      child.on('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      ),
    )
  }

  get pid(): number {
    return this.#child.pid!
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The JSON objects it printed to the standard output so far, one on each line. */
  messages<T = Record<string, unknown>>(): T[] {
    return this.stdout
      .split('\n')
      .slice(0, -1)
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as T)
  }

  /** Resolves with the first match in either output; rejects when the process ends before. */
  waitFor(pattern: RegExp, withinMs = 20_000): Promise<RegExpExecArray> {
    return this.waitUntil(String(pattern), () => pattern.exec(this.stdout + this.stderr), withinMs)
  }

  /** Resolves once `check` returns something; the output is in the message if it does not. */
  async waitUntil<T>(
    what: string,
    check: () => Promise<T | null | undefined> | T | null | undefined,
    withinMs = 20_000,
  ): Promise<T> {
    const ended = this.exited.then(() => 'ended' as const)
    const seen = await Promise.race([eventually(what, check, withinMs).catch(() => null), ended])
    const last = seen === 'ended' ? await check() : seen
    if (last !== null && last !== undefined) return last
    const state = this.isRunning ? `within ${withinMs} ms` : 'before the process ended'
    throw new Error(
      `${what}: not ${state}\n${this.stdout.slice(-2_000)}\n${this.stderr.slice(-2_000)}`,
    )
  }

  write(text: string): void {
    this.#child.stdin!.write(text)
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ended> {
    if (this.isRunning) this.#child.kill(signal)
    return this.exited
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}

/** Writes the source as a module of the project and starts `node` on it. */
export function startProgram(source: string, options: ProgramOptions = {}): Program {
  const folder = options.folder ?? workFolder(options.files)
  const path = join(folder, `program-${programs++}.mjs`)
  writeFileSync(path, source)
  const { nodeArgs = [], args = [], env } = options
  return tracked(new Program([...nodeArgs, path, ...args], folder, env))
}

/** The same, to its end. */
export function runProgram(source: string, options: ProgramOptions = {}): Promise<Ended> {
  return startProgram(source, options).exited
}

export function startCli(args: readonly string[], options: ProgramOptions = {}): Program {
  const folder = options.folder ?? workFolder(options.files)
  return tracked(
    new Program([...(options.nodeArgs ?? []), cliPath(), ...args], folder, options.env),
  )
}

export function runCli(args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return startCli(args, options).exited
}

let programs = 0

function tracked(program: Program): Program {
  onTestFinished(async () => {
    await program.kill()
  })
  return program
}
