// One claim on its way: beats while the answer is out, and judges whether it came in time. A node
// whose claims come too late starts nothing, says so once, and is not ready.

import { formatDuration, type Millis } from '../core/time.ts'
import type { Parts } from './parts.ts'

export const CLAIMS_LATE = 'claims_late'

/** A lease with less left than this can end before a renewal reaches the store. */
const LEFT_MIN = 1 / 3

type WatchParts = Pick<
  Parts,
  'store' | 'clock' | 'settings' | 'owner' | 'monitor' | 'troubles' | 'events'
>

export class ClaimWatch {
  readonly #parts: WatchParts
  readonly #beganAt: Millis
  readonly #stalledMs: Millis
  #cancel: () => void

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#beganAt = parts.clock.monotonic()
    this.#stalledMs = parts.monitor.stalledMs
    this.#cancel = this.#beatLater()
  }

  /** The claim may hold leases already: their owner lives, however long the answer takes. */
  #beatLater(): () => void {
    const { clock, settings, owner, store, events } = this.#parts
    return clock.after(settings.leaseMs / 3, () => {
      this.#cancel = this.#beatLater()
      owner.beat(store).catch((error: unknown) => {
        events.emit('error', { kind: 'store', error, during: 'beat' })
      })
    })
  }

  stop(): void {
    this.#cancel()
  }

  /** Called when the answer is there. */
  isLate(): boolean {
    const { clock, settings, monitor, troubles } = this.#parts
    const { leaseMs } = settings
    const limitMs = leaseMs * (1 - LEFT_MIN)
    const tookMs = clock.monotonic() - this.#beganAt
    const storeMs = tookMs - (monitor.stalledMs - this.#stalledMs)
    if (storeMs > limitMs) troubles.raise(lateClaims(storeMs, leaseMs))
    else troubles.clear(CLAIMS_LATE)
    return tookMs > limitMs
  }
}

function lateClaims(tookMs: Millis, leaseMs: Millis) {
  const took = formatDuration(Math.round(tookMs / 100) * 100)
  const lease = formatDuration(leaseMs)
  return {
    code: CLAIMS_LATE,
    message:
      `claims take too long for the lease (${took} of ${lease}): claimed jobs go back unstarted ` +
      'until the store answers faster; raise lockDurationMs if it stays this slow',
    level: 'error',
    isBlocking: true,
  } as const
}
