// An alert as a webhook: one signed request through the guarded client.

import { createHash } from 'node:crypto'
import { OutboundError } from '../../actions/guard/errors.ts'
import type { Outbound } from '../../actions/guard/outbound.ts'
import { verdictOf } from '../../actions/http/answer.ts'
import { signature } from '../../actions/http/sign.ts'
import { iso } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Delivery, PostAlert } from './sender.ts'

const REQUEST_MS = 10_000
const ANSWER_BYTES_MAX = 4_096

export interface PostParts {
  readonly outbound: Outbound
  readonly clock: Clock
  readonly url: string
  /** Null sends alerts unsigned. */
  readonly secret: string | null
}

/** The same for every try of one alert; without the dot that separates what is signed. */
export function alertId(text: string): string {
  return `alert_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`
}

export function postAlert({ outbound, clock, url, secret }: PostParts): PostAlert {
  return async ({ id, type, at, data }, signal) => {
    const body = JSON.stringify({ type, timestamp: iso(at), data })
    const timestamp = Math.floor(clock.now() / 1_000)
    const signed = secret === null ? '' : signature({ id, timestamp, body }, [secret])
    const request = {
      url,
      method: 'POST',
      headers: {
        'user-agent': 'Carillon',
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(signed === '' ? {} : { 'webhook-signature': signed }),
      },
      body,
      signal,
      totalMs: REQUEST_MS,
      bodyBytes: ANSWER_BYTES_MAX,
      overflow: 'cut',
    } as const
    try {
      const { status, headers } = await outbound.request(request)
      return deliveryOf(status, headers['retry-after'], clock)
    } catch (error) {
      if (!(error instanceof OutboundError) || error.fault !== 'refused') throw error
      return { kind: 'final', why: error.message }
    }
  }
}

function deliveryOf(status: number, retryAfter: string | undefined, clock: Clock): Delivery {
  const verdict = verdictOf(status, retryAfter, clock.now())
  if (verdict.kind === 'done' || verdict.kind === 'again') return verdict
  return { kind: 'final', why: `the receiver answered ${status}` }
}
