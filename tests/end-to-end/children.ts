// Child processes of the end-to-end tests: started ahead of time, spoken to line by line.

import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const built = new Map<string, string>()

/** One file of plain JavaScript, made once: compiling anew would be most of a short life. */
function program(file: string): string {
  const known = built.get(file)
  if (known !== undefined) return known
  const folder = fileURLToPath(new URL('../../tmp', import.meta.url))
  const outfile = join(folder, `${basename(file, '.ts')}-${process.pid}.mjs`)
  const bundler = fileURLToPath(new URL('bundle-child.ts', import.meta.url))
  const entry = fileURLToPath(new URL(file, import.meta.url))
  execFileSync(process.execPath, ['--import', 'tsx', bundler, entry, outfile])
  process.once('exit', () => rmSync(outfile, { force: true }))
  built.set(file, outfile)
  return outfile
}

export class Child {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #waiting = new Set<{
    matches: (line: string) => boolean
    found: (line: string | null) => void
  }>()
  readonly lines: string[] = []
  #rest = ''
  #errors = ''
  #isOver = false

  constructor(file: string, args: readonly string[]) {
    const options = ['--enable-source-maps', program(file)]
    this.#process = spawn(process.execPath, [...options, ...args])
    this.#process.stdout.on('data', (bytes: Buffer) => this.#heard(bytes.toString()))
    this.#process.stderr.on('data', (bytes: Buffer) => {
      this.#errors += bytes.toString()
    })
    this.#process.once('close', () => this.#end())
    // A child that was killed no longer reads what it is told.
    this.#process.stdin.on('error', () => {})
  }

  #heard(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      this.lines.push(line)
      for (const waiting of this.#waiting) {
        if (!waiting.matches(line)) continue
        this.#waiting.delete(waiting)
        waiting.found(line)
      }
    }
  }

  /** Nobody waits for lines of a process that is gone. */
  #end(): void {
    this.#isOver = true
    for (const { found } of this.#waiting) found(null)
    this.#waiting.clear()
  }

  /** The first line that fits, from now on or said before; null when none came in time or before its end. */
  line(matches: (line: string) => boolean, withinMs: number): Promise<string | null> {
    const known = this.lines.find(matches)
    if (known !== undefined || this.#isOver) return Promise.resolve(known ?? null)
    return new Promise(resolve => {
      const late = setTimeout(() => {
        this.#waiting.delete(waiting)
        resolve(null)
      }, withinMs)
      const waiting = {
        matches,
        found: (line: string | null) => {
          clearTimeout(late)
          resolve(line)
        },
      }
      this.#waiting.add(waiting)
    })
  }

  async ready(): Promise<void> {
    const line = await this.line(text => text === 'ready', 60_000)
    if (line === null) throw new Error(`a child did not come up: ${this.#errors}`)
  }

  say(text: string): void {
    this.#process.stdin.write(`${text}\n`)
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  /** What it complained about before its end. */
  get errors(): string {
    return this.#errors
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  get exitCode(): number | null {
    return this.#process.exitCode
  }

  /** Resolves when it is gone, at once if it is already. */
  async gone(): Promise<void> {
    if (this.isRunning) await once(this.#process, 'exit')
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.gone()
  }
}
