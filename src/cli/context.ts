// What a command works with: the flags everyone has, the terminal, the time, and the target, which
// is opened when it is first asked for.

import type { Api } from './target/api.ts'
import type { Instant } from '../core/time.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Globals } from './globals.ts'
import { usage } from './problem.ts'
import { safe, type Screen } from './screen.ts'
import { pick, table, tsv, type Column } from './table.ts'
import type { OpenOptions } from './target/open.ts'
import type { Target } from './target/target.ts'
import type { Terminal } from './terminal.ts'
import { inOwnForm } from './own-form.ts'

export interface ContextParts {
  readonly globals: Globals
  readonly terminal: Terminal
  readonly screen: Screen
  readonly signal: AbortSignal
}

export class Context {
  readonly globals: Globals
  readonly terminal: Terminal
  readonly screen: Screen
  readonly signal: AbortSignal
  #target: Target | null = null

  constructor({ globals, terminal, screen, signal }: ContextParts) {
    this.globals = globals
    this.terminal = terminal
    this.screen = screen
    this.signal = signal
  }

  now(): Instant {
    return systemClock.now()
  }

  /** Says on the standard error where it acts, unless that is the default. */
  async target(options: OpenOptions = { mayCreate: false }): Promise<Target> {
    if (this.#target !== null) return this.#target
    const { openTarget } = await import('./target/open.ts')
    const { target, isDefault } = await openTarget(this.globals, options)
    this.#target = target
    if (!isDefault && this.terminal.isTerminal) this.say(`on ${target.name}`)
    return target
  }

  async client(options?: OpenOptions): Promise<Api> {
    return (await this.target(options)).client
  }

  async close(): Promise<void> {
    await this.#target?.close()
  }

  /** For people: the standard error, unless they want quiet. */
  say(text: string): void {
    if (!this.globals.isQuiet) this.terminal.err(`${text}\n`)
  }

  /** Data: the standard output. */
  print(text: string): void {
    this.terminal.out(text.endsWith('\n') ? text : `${text}\n`)
  }

  json(resource: unknown): void {
    this.print(JSON.stringify(inOwnForm(resource), null, this.screen.width === null ? 0 : 2))
  }

  /** One line for each, for those that read along. */
  jsonLine(resource: unknown): void {
    this.print(JSON.stringify(resource))
  }

  /** Tabs or a table, as asked. */
  rows<R extends object>(columns: readonly Column<R>[], rows: readonly R[]): void {
    this.terminal.out(this.format(columns, rows))
  }

  format<R extends object>(columns: readonly Column<R>[], rows: readonly R[]): string {
    const picked = pick(columns, this.globals.columns, rows[0])
    return this.globals.plain ? tsv(picked, rows) : table(picked, rows, this.screen)
  }

  /** The resource as JSON, or in words. */
  show(resource: unknown, words: () => string): void {
    if (this.globals.json) this.json(resource)
    else this.print(words())
  }

  /** Asks before something that cannot be taken back; without anybody to ask it needs `--yes`. */
  async confirm(question: string): Promise<boolean> {
    if (this.globals.isYes) return true
    const { confirm } = this.terminal
    if (confirm === null || !this.globals.mayAsk) {
      throw usage('nobody is there to ask', 'give --yes to do it without being asked')
    }
    const isMeant = await confirm(`${safe(question)} [y/N] `)
    if (!isMeant) this.say('nothing was changed')
    return isMeant
  }
}
