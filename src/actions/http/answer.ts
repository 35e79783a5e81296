// What the answer to a webhook means: done, try again and when, give up, or end the job.

import type { Instant, Millis } from '../../core/time.ts'
import { DAY } from '../../core/time.ts'

export type Verdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: Millis | null }
  | { readonly kind: 'final' }
  | { readonly kind: 'gone' }

/** Among the 4xx only these may go away by themselves. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

export function verdictOf(status: number, retryAfter: string | undefined, now: Instant): Verdict {
  if (status >= 200 && status < 300) return { kind: 'done' }
  if (status === 410) return { kind: 'gone' }
  if (status >= 500 || passing.has(status)) {
    return { kind: 'again', afterMs: retryAfterMs(retryAfter, now) }
  }
  return { kind: 'final' }
}

/** No receiver may put a job off for longer. */
export const RETRY_AFTER_MAX: Millis = DAY

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /

/** Seconds or an HTTP date; null when there is none that can be read. */
export function retryAfterMs(text: string | undefined, now: Instant): Millis | null {
  if (text === undefined) return null
  const given = text.trim()
  if (/^\d{1,10}$/.test(given)) return Math.min(Number(given) * 1_000, RETRY_AFTER_MAX)
  const at = httpDate.test(given) ? Date.parse(given) : Number.NaN
  if (Number.isNaN(at)) return null
  return Math.min(Math.max(0, at - now), RETRY_AFTER_MAX)
}
