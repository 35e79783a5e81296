// `carillon top` on a terminal: draws, reads keys, and leaves the screen as it was.

import process from 'node:process'
import { systemClock } from '../../runtime/clock.ts'
import type { Context } from '../context.ts'
import { snapshotOf, type Snapshot } from './data.ts'
import { frameOf, rowsOf, type Row, type View } from './frame.ts'
import { keysOf, press, start, type Keys, type Wish } from './keys.ts'

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const TO_END_OF_LINE = '\u001b[K'
const REST_OF_SCREEN = '\u001b[J'

type Act = (row: Row, verb: 'pause' | 'run' | 'cancel') => Promise<string>

export class LiveTop {
  readonly #context: Context
  readonly #act: Act
  readonly #everyMs: number
  #keys: Keys = start
  #message = ''
  #snapshot: Snapshot | null = null
  #end: () => void = () => {}
  #isShown = true

  constructor(context: Context, everyMs: number, act: Act) {
    this.#context = context
    this.#everyMs = everyMs
    this.#act = act
  }

  async run(): Promise<void> {
    const { stdin, stdout } = process
    const { signal } = this.#context
    const ended = new Promise<void>(resolve => (this.#end = resolve))
    const typed = (text: string) => this.#typed(text)
    const drawn = () => this.#draw()
    stdout.write(ENTER)
    stdin.setRawMode(true)
    stdin.setEncoding('utf8')
    stdin.on('data', typed)
    stdout.on('resize', drawn)
    signal.addEventListener('abort', this.#end)
    let isOver = false
    const timer: { cancel: (() => void) | null } = { cancel: null }
    const again = async (): Promise<void> => {
      await this.#look()
      // A look that ends after the screen was given back is the last one.
      if (!isOver) timer.cancel = systemClock.after(this.#everyMs, () => void again())
    }
    try {
      void again()
      await ended
    } finally {
      isOver = true
      this.#isShown = false
      timer.cancel?.()
      stdin.off('data', typed)
      stdout.off('resize', drawn)
      stdin.setRawMode(false)
      stdin.pause()
      stdout.write(LEAVE)
    }
  }

  /** What is shown stays when nobody answers, with the reason below it. */
  async #look(): Promise<void> {
    const { signal } = this.#context
    try {
      this.#snapshot = await snapshotOf(await this.#context.client(), signal)
    } catch (error) {
      if (signal.aborted) return
      this.#message = error instanceof Error ? error.message : String(error)
    }
    this.#draw()
  }

  #view(): View {
    return {
      now: this.#context.now(),
      tz: this.#context.globals.tz,
      filter: this.#keys.filter,
      selected: this.#keys.selected,
      message: this.#message,
      height: process.stdout.rows ?? 24,
    }
  }

  #rows(): Row[] {
    return this.#snapshot === null ? [] : rowsOf(this.#snapshot, this.#view())
  }

  #draw(): void {
    if (!this.#isShown) return
    const screen = { ...this.#context.screen, width: process.stdout.columns ?? 80 }
    const lines =
      this.#snapshot === null
        ? [this.#message || 'looking …']
        : frameOf(this.#snapshot, this.#view(), screen)
    const text = lines.map(line => `${line}${TO_END_OF_LINE}`).join('\r\n')
    process.stdout.write(`${HOME}${text}${REST_OF_SCREEN}`)
  }

  #typed(text: string): void {
    for (const key of keysOf(text)) {
      const [next, wish] = press(this.#keys, key, this.#rows().length)
      this.#keys = next
      this.#grant(wish)
    }
    this.#draw()
  }

  #grant(wish: Wish): void {
    const row = this.#rows()[this.#keys.selected]
    if (wish.kind === 'quit') this.#end()
    if (wish.kind === 'ask') {
      this.#message = row?.runId ? `cancel the run of ${row.jobName}? [y/N]` : 'nothing runs there'
      if (!row?.runId) this.#keys = { ...this.#keys, mode: 'list' }
    }
    if (wish.kind !== 'act' || row === undefined) return
    this.#message = `${wish.verb} ${row.jobName} …`
    this.#act(row, wish.verb).then(
      told => this.#tell(told),
      (error: unknown) => this.#tell(error instanceof Error ? error.message : String(error)),
    )
  }

  #tell(message: string): void {
    this.#message = message
    this.#draw()
  }
}
