// Sends alerts one after another: a bounded queue, a bounded pace, tries that wait longer and
// longer. Nobody waits for it.

import type { JsonObject } from '../../core/json.ts'
import { MINUTE, SECOND, type Instant, type Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import { exposition } from '../metrics/exposition.ts'
import type { Logger } from '../../observe/log.ts'

export interface Alert {
  /** The same for every try to deliver it. */
  readonly id: string
  readonly type: 'alert.raised' | 'alert.cleared'
  readonly at: Instant
  readonly data: JsonObject
}

export type Delivery =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: Millis | null }
  | { readonly kind: 'final'; readonly why: string }

/** One request; one that rejects is tried again. */
export type PostAlert = (alert: Alert, signal: AbortSignal) => Promise<Delivery>

export interface AlertSenderLimits {
  readonly queueMax: number
  readonly perMinute: number
  readonly triesMax: number
  readonly firstRetryMs: Millis
  readonly retryMaxMs: Millis
}

export const senderDefaults: AlertSenderLimits = {
  queueMax: 100,
  perMinute: 30,
  triesMax: 8,
  firstRetryMs: SECOND,
  retryMaxMs: 5 * MINUTE,
}

export interface AlertSenderParts {
  readonly clock: Clock
  readonly post: PostAlert
  readonly log: Logger | null
  readonly limits?: Partial<AlertSenderLimits>
}

interface Waiting {
  readonly alert: Alert
  readonly triesMax: number
  readonly settle: (isDelivered: boolean) => void
}

export class AlertSender {
  readonly #parts: AlertSenderParts
  readonly #limits: AlertSenderLimits
  readonly #queue: Waiting[] = []
  readonly #stop = new AbortController()
  /** When requests were made, within the last minute. */
  #times: Instant[] = []
  #working: Promise<void> | null = null
  #wake: (() => void) | null = null
  #counts = { sent: 0, failed: 0, refused: 0, tries: 0 }

  constructor(parts: AlertSenderParts) {
    this.#parts = parts
    this.#limits = { ...senderDefaults, ...parts.limits }
  }

  /** False when the queue is full: offer it again later. `settle` is told what became of it. */
  offer(
    alert: Alert,
    settle: Waiting['settle'] = () => {},
    triesMax = this.#limits.triesMax,
  ): boolean {
    if (this.#stop.signal.aborted || this.#queue.length >= this.#limits.queueMax) {
      this.#counts.refused++
      return false
    }
    this.#queue.push({ alert, settle, triesMax })
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
    return true
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Whether an alert offered now would be sent at once. */
  get isFree(): boolean {
    return this.#queue.length === 0 && this.#untilAllowed() === 0
  }

  /** In the Prometheus text format. */
  text(): string {
    const { sent, failed, refused, tries } = this.#counts
    const results = Object.entries({ sent, failed, refused })
    return exposition([
      {
        name: 'alerts_total',
        type: 'counter',
        help: 'Alerts by what became of them: sent, failed, or refused because too many waited.',
        samples: results.map(([result, value]) => ({ labels: { result }, value })),
      },
      {
        name: 'alert_requests_total',
        type: 'counter',
        help: 'Requests to deliver alerts, retries included.',
        samples: [{ labels: {}, value: tries }],
      },
      {
        name: 'alerts_waiting',
        type: 'gauge',
        help: 'Alerts that wait for delivery in this process.',
        samples: [{ labels: {}, value: this.#queue.length }],
      },
    ])
  }

  /** What waits is not sent any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    await this.#working
    for (const { settle } of this.#queue.splice(0)) settle(false)
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stop.signal.aborted) {
      const { alert, settle, triesMax } = this.#queue[0]!
      const isDelivered = await this.#deliver(alert, triesMax)
      if (this.#stop.signal.aborted && !isDelivered) return
      this.#queue.shift()
      this.#counts[isDelivered ? 'sent' : 'failed']++
      settle(isDelivered)
    }
  }

  async #deliver(alert: Alert, triesMax: number): Promise<boolean> {
    for (let tries = 1; !this.#stop.signal.aborted; tries++) {
      await this.#pause(this.#untilAllowed())
      if (this.#stop.signal.aborted) return false
      const answer = await this.#try(alert)
      if (answer.kind === 'done') return true
      if (answer.kind === 'final' || tries >= triesMax) {
        const why =
          answer.kind === 'final'
            ? answer.why
            : `no answer in ${tries === 1 ? '1 try' : `${tries} tries`}`
        this.#parts.log?.error({ alert: alert.id, why }, 'an alert could not be delivered')
        return false
      }
      await this.#pause(Math.max(answer.afterMs ?? 0, this.#backoff(tries)))
    }
    return false
  }

  async #try(alert: Alert): Promise<Delivery> {
    this.#counts.tries++
    this.#times.push(this.#parts.clock.now())
    try {
      return await this.#parts.post(alert, this.#stop.signal)
    } catch (error) {
      this.#parts.log?.warn({ alert: alert.id, err: error }, 'an alert was not taken')
      return { kind: 'again', afterMs: null }
    }
  }

  #backoff(tries: number): Millis {
    const { firstRetryMs, retryMaxMs } = this.#limits
    return Math.min(firstRetryMs * 2 ** Math.min(tries - 1, 30), retryMaxMs)
  }

  #untilAllowed(): Millis {
    const now = this.#parts.clock.now()
    this.#times = this.#times.filter(time => now - time < MINUTE && time <= now)
    if (this.#times.length < this.#limits.perMinute) return 0
    return this.#times[0]! + MINUTE - now
  }

  #pause(ms: Millis): Promise<void> {
    if (ms <= 0 || this.#stop.signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const cancel = this.#parts.clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
