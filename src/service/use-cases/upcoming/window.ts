// A span of time as callers name it: two moments, in order and not too far apart.

import { z } from 'zod'
import { DAY, HOUR, isInstant, type Instant, type Millis } from '../../../core/time.ts'
import type { Problem } from '../../../core/errors.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { moment } from '../jobs/texts.ts'
import type { Window } from '../../../core/schedule/coming.ts'

const WINDOW_MAX: Millis = 31 * DAY

export const windowQuery = z.object({
  from: moment.optional(),
  to: moment.optional().meta({ description: 'At most 31 days after from.' }),
})

interface Usual {
  readonly now: Instant
  readonly backMs: Millis
  readonly aheadMs?: Millis
}

/** What is left out is the hour ahead, and so much before it. */
export function windowOf(query: z.output<typeof windowQuery>, usual: Usual): Window {
  const { now, backMs, aheadMs = HOUR } = usual
  const from = query.from === undefined ? now - backMs : Date.parse(query.from)
  const until = query.to === undefined ? Math.max(from, now) + aheadMs : Date.parse(query.to)
  const problems: Problem[] = []
  if (until <= from) problems.push({ field: 'to', value: query.to, rule: 'must be after from' })
  if (until - from > WINDOW_MAX || !isInstant(from) || !isInstant(until)) {
    problems.push({ field: 'to', value: query.to, rule: 'must be within 31 days after from' })
  }
  refuseInvalid('native', problems)
  return { from, until }
}
