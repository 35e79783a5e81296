// The system's timers and chance, as the worker sees them; a test brings its own.

export interface Ambient {
  now(): number
  /** Resolves after the time, or at once when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  every(ms: number, callback: () => void): () => void
  /** From 0 to 1. */
  chance(): number
}

export const systemAmbient: Ambient = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise(resolve => {
      if (signal?.aborted) {
        resolve()
        return
      }
      const timer = setTimeout(finish, ms)
      function finish(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      signal?.addEventListener('abort', finish)
    }),
  every: (ms, callback) => {
    const timer = setInterval(callback, ms)
    return () => clearInterval(timer)
  },
  chance: () => Math.random(),
}
