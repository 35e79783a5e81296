// Waiting for something that can be seen from outside, with a deadline.

import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 20

/** Asks again and again until the answer is neither null nor undefined; throws when time is up. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined> | T | null | undefined,
  withinMs = 30_000,
): Promise<T> {
  const until = performance.now() + withinMs
  let failure: unknown
  do {
    try {
      const seen = await look()
      if (seen !== null && seen !== undefined) return seen
    } catch (error) {
      failure = error
    }
    await pause(LOOK_MS)
  } while (performance.now() < until)
  throw new Error(`${what}: not within ${withinMs} ms`, { cause: failure })
}
