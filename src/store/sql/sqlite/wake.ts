// A hint that another process wrote: SQLite counts the changes other connections make. Who gave others
// something to do writes to a file beside the database, and the system says so at once. It also says when
// the log was written to, now and then; where it says nothing, the count is looked at all the time.

import type { Statement } from './driver.ts'
import { wakePath } from './wake-file.ts'
import type { Watch } from './watch.ts'

/** Calls back again and again until the function it returns is called. */
export type Every = (ms: number, callback: () => void) => () => void

/** The connection whose view of the changes of others counts. */
export interface Watched {
  readonly path: string
  glance<T>(work: () => T): T
  statement(sql: string): Statement
}

export interface WakeOptions {
  readonly every: Every
  readonly watch?: Watch
}

/** The least time between two looks at writes of any kind, as many as there may be. */
const LOOK_MS = 250
/** A system that says it will tell may still not do so, on some file systems. */
const DOUBT_MS = 2_000
/** One that has told may still lose something now and then. */
const TRUST_MS = 10_000

export class Wake {
  readonly #options: WakeOptions
  readonly #listeners = new Set<() => void>()
  #connection: Watched | null = null
  #stops: (() => void)[] = []
  /** Ends the looks that nothing called for. */
  #stopLooks: (() => void) | null = null
  #isTrusted = false
  #seen = 0
  #isResting = false
  #isStirred = false

  constructor(options: WakeOptions) {
    this.#options = options
  }

  attach(connection: Watched | null): void {
    this.#end()
    this.#connection = connection
    this.#start()
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#end()
    }
  }

  #start(): void {
    if (this.#stops.length > 0 || !this.#connection || this.#listeners.size === 0) return
    this.#seen = this.#version()
    const { every, watch } = this.#options
    const { path } = this.#connection
    const unwatch = watch?.(`${path}-wal`, () => this.#stirred()) ?? null
    const unwatchNews = watch?.(wakePath(path), () => this.#look()) ?? null
    if (unwatchNews !== null) this.#stops.push(unwatchNews)
    this.#isTrusted = false
    this.#stopLooks = every(unwatch === null ? LOOK_MS : DOUBT_MS, () => this.#look())
    this.#stops.push(() => this.#stopLooks?.())
    if (unwatch !== null) this.#stops.push(unwatch)
  }

  /** It told: its file system is one where it does. */
  #trust(): void {
    if (this.#isTrusted) return
    this.#isTrusted = true
    this.#stopLooks?.()
    this.#stopLooks = this.#options.every(TRUST_MS, () => this.#look())
  }

  #end(): void {
    for (const stop of this.#stops.splice(0)) stop()
    this.#stopLooks = null
    this.#isResting = false
    this.#isStirred = false
  }

  /** Writes of this process are told of too: then a look sees nothing new, and rests all the same. */
  #stirred(): void {
    this.#trust()
    if (this.#isResting) {
      this.#isStirred = true
      return
    }
    this.#isResting = true
    const rest = this.#options.every(LOOK_MS, () => {
      rest()
      this.#stops = this.#stops.filter(stop => stop !== rest)
      this.#isResting = false
      if (!this.#isStirred) return
      this.#isStirred = false
      this.#stirred()
    })
    this.#stops.push(rest)
    this.#look()
  }

  #look(): void {
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const listener of this.#listeners) listener()
  }

  /** A look that fails is like one that saw nothing: the calls that matter will say so. */
  #version(): number {
    try {
      const connection = this.#connection!
      return connection.glance(
        () => connection.statement('pragma data_version').get()![0] as number,
      )
    } catch {
      return this.#seen
    }
  }
}
