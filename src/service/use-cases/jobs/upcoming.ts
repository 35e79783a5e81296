// The moments a job will fire next, as far as they are known.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { iso, type Instant } from '../../../core/time.ts'
import { compileCron, gridNext, isGrid, type Trigger } from '../../../core/schedule/trigger.ts'
import { wallClock } from '../../../cron/zone-info.ts'
import { nextMoment } from './view.ts'

export const upcomingAnswer = z
  .strictObject({
    upcoming: z.array(
      z.strictObject({
        at: z.iso.datetime(),
        local: z.string(),
        timezone: z.string(),
        note: z.string().nullable(),
        is_estimate: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Upcoming' })

type Moment = z.output<typeof upcomingAnswer>['upcoming'][number]

/** From the moment it waits for; beyond it an interval from start or finish can only be guessed. */
export function upcomingOf(job: Job, n: number): Moment[] {
  const { trigger, endAt, runLimit } = job.spec
  const left = runLimit === null ? n : Math.min(n, Math.max(0, runLimit - job.counters.concluded))
  const found: Moment[] = []
  let at = nextMoment(job)
  while (at !== null && found.length < left && (endAt === null || at <= endAt)) {
    const isEstimate = found.length > 0 && !isGrid(trigger)
    found.push(shown(trigger, at, isEstimate))
    at = following(trigger, job.nextAt ?? at, at)
  }
  return found
}

function following(trigger: Trigger, phase: Instant, at: Instant): Instant | null {
  if (isGrid(trigger)) return gridNext(trigger, phase, at)
  return trigger.kind === 'interval' ? at + trigger.everyMs : null
}

function shown(trigger: Trigger, at: Instant, isEstimate: boolean): Moment {
  if (trigger.kind !== 'cron') {
    return { at: iso(at), local: iso(at), timezone: 'UTC', note: null, is_estimate: isEstimate }
  }
  return {
    at: iso(at),
    local: wallClock(at, trigger.zone),
    timezone: trigger.zone,
    note: compileCron(trigger).note(at),
    is_estimate: false,
  }
}
