// Moments ahead as callers see them, and how crowded they are.

import { z } from 'zod'
import type { Coming, Window } from '../../../core/schedule/coming.ts'
import type { PartCounts } from '../../../core/schedule/firing-counts.ts'
import { iso } from '../../../core/time.ts'
import { compileCron } from '../../../core/schedule/trigger.ts'
import { formatInZone } from '../../../cron/index.ts'

export const comingSchema = z
  .strictObject({
    job_id: z.string(),
    job_name: z.string(),
    tenant: z.string(),
    at: z.iso.datetime(),
    local: z.string().meta({ description: 'The same moment in the zone of the job.' }),
    timezone: z.string(),
    kind: z.enum(['firing', 'retry']),
    note: z.string().nullable().meta({ description: 'How a clock change touched it.' }),
    is_estimate: z.boolean(),
  })
  .meta({ id: 'Coming' })

export function comingView({ job, at, firing, kind, isEstimate }: Coming) {
  const { trigger, name, tenant } = job.spec
  const isCron = trigger.kind === 'cron'
  const timezone = isCron ? trigger.zone : 'UTC'
  return {
    job_id: job.seriesId ?? job.id,
    job_name: name,
    tenant,
    at: iso(at),
    local: formatInZone(at, timezone),
    timezone,
    kind,
    note: isCron && kind === 'firing' ? compileCron(trigger).note(firing) : null,
    is_estimate: isEstimate,
  }
}

export const bucketSchema = z.strictObject({ from: z.iso.datetime(), count: z.int() })

const CROWDS_SHOWN = 20

/** The fullest minutes, the fullest first; a minute with one start is no crowd. */
export function crowdsOf({ counts, window, widthMs }: PartCounts) {
  return counts
    .map((count, i) => ({ at: window.from + i * widthMs, count }))
    .filter(({ count }) => count > 1)
    .sort((a, b) => b.count - a.count || a.at - b.at)
    .slice(0, CROWDS_SHOWN)
    .map(({ at, count }) => ({ from: iso(at), count }))
}

export const BUCKETS = 60

export function bucketWidth({ from, until }: Window): number {
  return Math.max(1, Math.ceil((until - from) / BUCKETS))
}

/** Equal parts of the window with the number of starts in each. */
export function bucketsOf({ counts, window, widthMs }: PartCounts) {
  return counts.map((count, i) => ({ from: iso(window.from + i * widthMs), count }))
}
