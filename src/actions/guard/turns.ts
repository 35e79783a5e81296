// So many at once; the others wait their turn, in order, and may give up.

export class Turns {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Resolves to the function that gives the turn back. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#taken < this.#max) this.#taken++
    else await this.#wait(signal)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#pass()
    }
  }

  /** The turn goes from hand to hand: whoever waits longest has it without asking again. */
  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        const at = this.#waiting.indexOf(go)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(go)
    })
  }
}
