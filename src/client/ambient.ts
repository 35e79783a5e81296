// The clock and the randomness of a client: it lives in programs and browsers that have no engine.

/** Resolves after `ms`, or sooner when the signal says so. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}

/** Calls back after `ms`; the returned function takes it back. */
export function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

export function makeKey(): string {
  return globalThis.crypto.randomUUID()
}

/** A share of 0 to 1, so that clients that failed together do not come back together. */
export function chance(): number {
  return Math.random()
}
