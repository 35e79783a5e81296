// The program as a user has it: real processes of the compiled code, a service of their own, and a
// terminal where one is needed.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { distOf } from '../../scripts/packages.ts'
import { eventually } from '../support/servers/wait.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const main = join(root, distOf('carillon-service'), 'cli/main.js')

/** `npm test` builds first; alone, a suite compiles what has changed since. */
export function ensureBuilt(): void {
  const newest = Math.max(
    ...readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map(path => statSync(join(root, 'src', path), { throwIfNoEntry: false })?.mtimeMs ?? 0),
  )
  if (existsSync(main) && statSync(main).mtimeMs >= newest) return
  const script = join(root, 'scripts/build.ts')
  const loader = fileURLToPath(import.meta.resolve('tsx'))
  spawnSync(process.execPath, ['--import', loader, script, '--code'], { cwd: root })
}

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
}

const fixtureConfig = `export default { handlers: {
  greet: context => { context.log.info('hello', context.payload); return { greeted: context.payload } },
  slow: context => new Promise((resolve, reject) => {
    context.log.warn('slowly')
    context.progress(0.4, 'almost half')
    context.signal.addEventListener('abort', () => reject(new Error('aborted')))
  }),
  broken: () => { throw new Error('no such table') },
} }
`

/** A folder with a configuration, commands that run in it, and what they leave behind. */
export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'))
  readonly #children: ChildProcess[] = []

  constructor() {
    writeFileSync(join(this.folder, 'carillon.config.mjs'), fixtureConfig)
  }

  env(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env
    return { PATH, HOME, LANG: 'C.UTF-8', TZ: 'America/New_York', ...more }
  }

  run(words: readonly string[], { env = {}, input = '' }: RunOptions = {}): Promise<Ran> {
    const child = spawn(process.execPath, [main, ...words], {
      cwd: this.folder,
      env: this.env(env),
    })
    this.#children.push(child)
    const ran = { out: '', err: '' }
    child.stdout.on('data', (bytes: Buffer) => (ran.out += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (ran.err += bytes.toString()))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    return new Promise(resolve => child.on('close', code => resolve({ code, ...ran })))
  }

  /** A process that stays, and the first line it prints that fits. */
  async start(words: readonly string[], line: RegExp): Promise<RegExpExecArray> {
    const child = spawn(process.execPath, [main, ...words], { cwd: this.folder, env: this.env() })
    this.#children.push(child)
    let text = ''
    child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (text += bytes.toString()))
    return eventually(`${words.join(' ')}: ${line}`, () => {
      if (child.exitCode !== null) throw new Error(text)
      return line.exec(text)
    })
  }

  /** The program in a terminal of 100 by 30. */
  terminal(words: readonly string[], env: Readonly<Record<string, string>> = {}): PseudoTerminal {
    const line = [process.execPath, main, ...words].map(word => `'${word}'`).join(' ')
    const whole = `stty cols 100 rows 30; exec ${line}`
    const child = spawn('script', ['-qfec', whole, '/dev/null'], {
      cwd: this.folder,
      env: this.env({ TERM: 'xterm', SHELL: '/bin/sh', ...env }),
    })
    this.#children.push(child)
    return new PseudoTerminal(child)
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const over = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGKILL')
      await over
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class PseudoTerminal {
  readonly #child: ChildProcess
  text = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout!.on('data', (bytes: Buffer) => (this.text += bytes.toString()))
    child.stdin!.on('error', () => {})
  }

  type(text: string): void {
    this.#child.stdin!.write(text)
  }

  sees(text: string | RegExp): Promise<string> {
    const fits = () => (typeof text === 'string' ? this.text.includes(text) : text.test(this.text))
    return eventually(`the terminal shows ${String(text)}, not ${this.text.slice(-500)}`, () =>
      fits() ? this.text : null,
    )
  }

  /** The exit code, which `script -e` passes on. */
  ends(): Promise<number> {
    return eventually('the terminal ends', () => this.#child.exitCode)
  }
}

export const hasTerminal = spawnSync('script', ['--version']).status === 0
