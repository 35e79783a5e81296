// Computations in steps, done at once.

import type { Steps } from '../../src/actions/slices.ts'

export function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** How often the event loop may serve others meanwhile. */
export function countSteps(steps: Steps<unknown>): number {
  let count = 1
  while (steps.next().done !== true) count++
  return count
}
