// The handlers that run during a test. Virtual time stands still while they do real work: timers,
// files, sockets, databases. It goes on while they wait for the virtual clock or for their signal.

import { AsyncLocalStorage } from 'node:async_hooks'
import process from 'node:process'
import type { Instant, Millis } from '../core/time.ts'
import { systemClock } from '../runtime/clock.ts'
import type { RunContext } from '../library/context.ts'

interface ActiveRun {
  readonly name: string
  readonly id: string
  readonly signal: AbortSignal
  /** It read its signal or used the kit: it may be waiting for either, or for real work. */
  isAmbiguous: boolean
  /** Virtual sleeps it has not come back from. */
  sleeps: number
  /** Since when, in real time, it has been waited for. */
  since: Instant
  /** Time goes on without it. */
  isLeft: boolean
}

/** So long an ambiguous handler is waited for while the process shows no activity. */
const QUIET_MS = 100
/** The same where open sockets may answer without showing any. */
const QUIET_WITH_SOCKETS_MS = 500
const LOOK_MS = 10

export class HandlerWatch {
  readonly #waitMs: Millis
  readonly #current = new AsyncLocalStorage<ActiveRun>()
  readonly #active = new Set<ActiveRun>()
  #idleResources = activeResources()
  #wake: (() => void) | null = null
  #isSuspended = false

  /** 0: time never waits for handlers. */
  constructor(waitMs: Millis) {
    this.#waitMs = waitMs
  }

  /** Calls a handler and knows of it until it has returned. */
  call(name: string, context: RunContext, handler: (context: RunContext) => unknown): unknown {
    const run: ActiveRun = {
      name,
      id: context.run.id,
      signal: context.signal,
      isAmbiguous: false,
      sleeps: 0,
      since: systemClock.now(),
      isLeft: false,
    }
    run.signal.addEventListener('abort', () => this.#wentOn(run), { once: true })
    const returned = this.#current.run(run, () => handler(observed(context, run)))
    if (!(returned instanceof Promise)) return returned
    this.#active.add(run)
    return returned.finally(() => {
      this.#active.delete(run)
      this.#wake?.()
    })
  }

  /** A wait for the virtual clock, as the handler that asks for it sees it. */
  async asleep(sleep: Promise<void>): Promise<void> {
    const run = this.#current.getStore()
    if (!run) return sleep
    run.sleeps++
    await sleep
    run.sleeps--
    this.#wentOn(run)
  }

  /** A handler uses the scheduler under test: it may wait for another run. */
  usesKit(): void {
    const run = this.#current.getStore()
    if (run) run.isAmbiguous = true
  }

  #wentOn(run: ActiveRun): void {
    run.since = systemClock.now()
    run.isLeft = false
    this.#wake?.()
  }

  /** During the work, time does not wait for handlers: they are about to be aborted. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.#isSuspended = true
    try {
      return await work()
    } finally {
      this.#isSuspended = false
    }
  }

  /** Null when time may go on; else what to await before asking again. Throws for handlers that hang. */
  pending(): Promise<void> | null {
    if (this.#waitMs === 0 || this.#isSuspended) return null
    if (this.#active.size === 0) {
      this.#idleResources = activeResources()
      return null
    }
    const now = systemClock.now()
    const busy = [...this.#active].filter(run => run.sleeps === 0 && !run.isLeft)
    for (const run of busy) {
      run.isLeft = now - run.since >= this.#patienceWith(run)
    }
    const hanging = busy.filter(run => run.isLeft && !this.#mayWait(run))
    if (hanging.length > 0) throw this.#hang(hanging)
    return busy.some(run => !run.isLeft) ? this.#change() : null
  }

  #mayWait(run: ActiveRun): boolean {
    return run.isAmbiguous || run.signal.aborted
  }

  #patienceWith(run: ActiveRun): Millis {
    if (!this.#mayWait(run)) return this.#waitMs
    const resources = activeResources()
    const isWorking = [...resources].some(
      ([type, count]) => count > (this.#idleResources.get(type) ?? 0),
    )
    if (isWorking) return this.#waitMs
    return Math.min(this.#waitMs, resources.has('TCPSocketWrap') ? QUIET_WITH_SOCKETS_MS : QUIET_MS)
  }

  #change(): Promise<void> {
    return new Promise(resolve => {
      const cancel = systemClock.after(LOOK_MS, () => this.#wake?.())
      this.#wake = () => {
        this.#wake = null
        cancel()
        resolve()
      }
    })
  }

  #hang(runs: readonly ActiveRun[]): Error {
    const names = [...new Set(runs.map(({ name, id }) => `${name} (${id})`))].join(', ')
    return new Error(
      `still running after ${this.#waitMs} ms of real time: ${names}. Virtual time waits for handlers, ` +
        'except while they wait on t.sleep() or on their signal. Raise handlerWaitMs of ' +
        'createTestScheduler, or set it to 0 to move time without waiting.',
    )
  }
}

/** The context, noticing when the handler reads its signal. */
function observed(context: RunContext, run: ActiveRun): RunContext {
  const members = Object.getOwnPropertyDescriptors(context)
  const get = () => {
    run.isAmbiguous = true
    return run.signal
  }
  return Object.defineProperties({} as RunContext, {
    ...members,
    signal: { get, enumerable: true, configurable: true },
  })
}

/** What keeps the process busy, counted by type. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    if (type !== 'Immediate') counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return counts
}
