// Start and stop, one after the other in the order of the calls, and never the same one twice.

export class Lifecycle<S, R> {
  /** The last start, until a stop is asked for; the last stop, until a start is. */
  #started: Promise<S> | null = null
  #stopped: Promise<R> | null = null
  #last: Promise<void> = Promise.resolve()

  /** Whether the last call was `stop`. */
  get isStopped(): boolean {
    return this.#stopped !== null
  }

  get isStarted(): boolean {
    return this.#started !== null
  }

  /** Waits for a stop under way. A failed start is forgotten, so that it can be tried again. */
  start(begin: () => Promise<S>): Promise<S> {
    if (this.#started) return this.#started
    this.#stopped = null
    const started = this.#next(begin, () => {
      if (this.#started === started) this.#started = null
    })
    this.#started = started
    return started
  }

  /** Waits for a start under way, so that nothing of it goes on behind the stop. */
  stop(end: () => Promise<R>): Promise<R> {
    if (this.#stopped) return this.#stopped
    this.#started = null
    this.#stopped = this.#next(end, () => {})
    return this.#stopped
  }

  /** Nothing here handles the returned promise: Node still reports a failure that nobody awaits. */
  #next<T>(work: () => Promise<T>, onFailed: () => void): Promise<T> {
    const result = this.#last.then(work)
    return new Promise((resolve, reject) => {
      this.#last = result.then(resolve, error => {
        onFailed()
        reject(error)
      })
    })
  }
}
