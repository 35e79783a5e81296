// Questions to a store that may not answer, for those who cannot wait.

import { SECOND, type Millis } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { problemOf } from '../call/refusal.ts'

/** Probes give up after a few seconds: the answer must not take as long as a stalled store. */
const ANSWER_MS: Millis = 2 * SECOND

/** `reachable`, or why the store is not. */
export function askStore(
  store: Pick<Engine['store'], 'now'>,
  clock: Pick<Engine['clock'], 'after'>,
): Promise<string> {
  const answer = store.now().then(
    () => 'reachable',
    (error: unknown) => problemOf(error, 'native').message,
  )
  return inTime(answer, clock).then(text => text ?? 'the store did not answer within 2 s')
}

/** Null when it fails, or takes longer than a probe waits. */
export function inTime<T>(
  answer: Promise<T>,
  clock: Pick<Engine['clock'], 'after'>,
): Promise<T | null> {
  return new Promise(resolve => {
    const cancel = clock.after(ANSWER_MS, () => resolve(null))
    const settle = (value: T | null) => {
      cancel()
      resolve(value)
    }
    answer.then(settle, () => settle(null))
  })
}
