// Measures the store calls of a node with the monotonic clock. Knows whether they were on time: a
// node whose own calls are late cannot tell a dead process from a slow store.

import { storeTroubleCodeOf, storeTroubleCodes } from '../core/alerts/store-trouble.ts'
import { SECOND, type Millis } from '../core/time.ts'
import type { Store } from '../store/port.ts'
import type { Clock } from './clock.ts'

/** However short the lease, a busy machine may take this long for a call. */
const ON_TIME_MIN_MS: Millis = SECOND / 4

type Call = (...args: unknown[]) => unknown

/** `trouble` is the code of what is wrong with the store, if the call failed by that. */
type CallListener = (tookMs: Millis, trouble: string | null) => void

/** What a call that failed threw. */
interface CallFailure {
  readonly thrown: unknown
}

export class StoreMonitor {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** A call that takes longer is late. */
  readonly limitMs: Millis
  /** When the calls under way began. */
  readonly #open = new Map<number, Millis>()
  #calls = 0
  #startedAt: Millis
  #answered = 0
  /** When a late or failed call last ended. */
  #lateAt: Millis | null = null
  #blockedMs: Millis = 0
  #stalledMs: Millis = 0
  readonly #listeners = new Set<CallListener>()

  constructor(clock: Pick<Clock, 'monotonic'>, leaseMs: Millis) {
    this.#clock = clock
    this.limitMs = Math.max(leaseMs / 3, ON_TIME_MIN_MS)
    this.#startedAt = clock.monotonic()
  }

  /** The node starts: what was measured before says nothing about now. */
  restart(): void {
    this.#startedAt = this.#clock.monotonic()
    this.#answered = 0
    this.#lateAt = null
  }

  /** Since when calls have been on time, 0 while one is late. */
  get onTimeMs(): Millis {
    const now = this.#clock.monotonic()
    if (this.#answered === 0 || this.openMs > this.limitMs) return 0
    return now - (this.#lateAt ?? this.#startedAt)
  }

  get isOnTimeSinceStart(): boolean {
    return this.#lateAt === null && this.#answered > 0 && this.openMs <= this.limitMs
  }

  /** How long the oldest call under way has been waiting. */
  get openMs(): Millis {
    // Calls are kept in the order they began.
    const [oldest] = this.#open.values()
    return oldest === undefined ? 0 : this.#clock.monotonic() - oldest
  }

  /** How long calls that work in this process kept its event loop, in all. */
  get blockedMs(): Millis {
    return this.#blockedMs
  }

  /** How long something else kept the event loop, in all: answers waited for it, not for the store. */
  get stalledMs(): Millis {
    return this.#stalledMs
  }

  noteStall(ms: Millis): void {
    this.#stalledMs += ms
  }

  /** Every code a listener may be told. */
  get troubleCodes(): readonly string[] {
    return storeTroubleCodes
  }

  /** Told of every call when it ends. */
  onCall(listener: CallListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The store with every call measured. */
  watch(store: Store): Store {
    const watched = new Map<string | symbol, Call>()
    return new Proxy(store, {
      get: (target, name) => {
        const known = watched.get(name)
        if (known) return known
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        // Looked up at every call: tests replace methods of a store that is in use.
        const call = this.#measured((...args) =>
          Reflect.apply(Reflect.get(target, name, target) as Call, target, args),
        )
        watched.set(name, call)
        return call
      },
    })
  }

  #measured(call: Call): Call {
    return (...args) => {
      const id = ++this.#calls
      const began = this.#clock.monotonic()
      this.#open.set(id, began)
      const end = (failure: CallFailure | null): void => {
        this.#open.delete(id)
        this.#note(began, failure)
      }
      let returned: unknown
      try {
        returned = call(...args)
      } catch (error) {
        end({ thrown: error })
        throw error
      }
      this.#blockedMs += this.#clock.monotonic() - began
      if (!(returned instanceof Promise)) {
        end(null)
        return returned
      }
      return returned.then(
        value => {
          end(null)
          return value as unknown
        },
        (error: unknown) => {
          end({ thrown: error })
          throw error
        },
      )
    }
  }

  #note(began: Millis, failure: CallFailure | null): void {
    const now = this.#clock.monotonic()
    if (failure === null) this.#answered++
    if (failure !== null || now - began > this.limitMs) this.#lateAt = now
    if (this.#listeners.size === 0) return
    const trouble = failure === null ? null : storeTroubleCodeOf(failure.thrown)
    for (const listener of this.#listeners) listener(now - began, trouble)
  }
}
