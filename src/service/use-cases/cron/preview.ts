// What a cron expression means: in words, in moments of several zones, against another one.

import { z } from 'zod'
import {
  CronError,
  formatInZone,
  isZone,
  parseCron,
  zoneTransitions,
  type Cron,
} from '../../../cron/index.ts'
import { DAY, iso, type Instant } from '../../../core/time.ts'
import { HttpProblem } from '../call/problem.ts'
import { cronText } from '../jobs/fields.ts'
import { moment } from '../jobs/texts.ts'
import { useCase } from '../call/use-case.ts'

const ZONES_MAX = 3
const COMPARED_MS = 30 * DAY
const COMPARED_MAX = 5_000
const SHOWN_MAX = 50
const YEAR_MS = 366 * DAY

const zone = z
  .string()
  .max(100)
  .refine(name => isZone(name), 'must be a time zone such as Europe/Berlin')

export const previewBody = z
  .strictObject({
    cron: cronText,
    dialect: z.enum(['extended', 'posix']).default('extended'),
    dst: z
      .strictObject({
        gap: z.enum(['shift', 'skip']).optional(),
        fold: z.enum(['first', 'both']).optional(),
      })
      .optional(),
    timezones: z.array(zone).min(1).max(ZONES_MAX).default(['UTC']),
    count: z.int().min(1).max(100).default(10),
    from: moment.optional(),
    compare: cronText.optional().meta({ description: 'Another expression, in the first zone.' }),
  })
  .meta({ id: 'CronPreviewBody' })

export type PreviewBody = z.output<typeof previewBody>

const at = z.iso.datetime()
export const previewAnswer = z
  .strictObject({
    cron: z.string(),
    canonical: z.string(),
    dialect: z.string(),
    lints: z.array(z.strictObject({ code: z.string(), message: z.string() })),
    zones: z.array(
      z.strictObject({
        timezone: z.string(),
        description: z.string(),
        dst: z.strictObject({ gap: z.string(), fold: z.string() }),
        next: z.array(
          z.strictObject({
            at,
            local: z.string(),
            in_ms: z.int(),
            gap_ms: z.int().nullable().meta({ description: 'Since the one before.' }),
            note: z.string().nullable(),
          }),
        ),
        transitions: z.array(
          z.strictObject({ at, before: z.string(), after: z.string(), change_ms: z.int() }),
        ),
      }),
    ),
    compare: z
      .strictObject({
        cron: z.string(),
        description: z.string(),
        is_same: z.boolean().meta({ description: 'They mean the same, at any time.' }),
        until: at.meta({ description: 'Compared up to here.' }),
        added: z.array(at),
        removed: z.array(at),
        added_count: z.int(),
        removed_count: z.int(),
      })
      .nullable(),
  })
  .meta({ id: 'CronPreview' })

export function preview(body: PreviewBody, now: Instant): z.output<typeof previewAnswer> {
  const from = body.from === undefined ? now : Date.parse(body.from)
  const crons = body.timezones.map(name => compiled(body, 'cron', name))
  const [first] = crons
  return {
    cron: body.cron,
    canonical: first!.canonical,
    dialect: body.dialect,
    lints: first!.lints().map(({ code, message }) => ({ code, message })),
    zones: crons.map(cron => zoneView(cron, { from, count: body.count })),
    compare: body.compare === undefined ? null : compared(first!, body, from),
  }
}

/** A fault of the expression names its place in it. */
function compiled(body: PreviewBody, field: 'cron' | 'compare', name: string): Cron {
  const { dialect, dst } = body
  const rule = {
    ...(dst?.gap === undefined ? {} : { gap: dst.gap }),
    ...(dst?.fold === undefined ? {} : { fold: dst.fold }),
  }
  try {
    return parseCron(body[field]!, { dialect, zone: name, dst: rule })
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    throw new HttpProblem('invalid-request', error.message, {
      errors: [{ field, value: body[field], rule: error.reason }],
      fields: { column: error.column, hint: error.hint, part: error.field },
    })
  }
}

function zoneView(cron: Cron, { from, count }: { from: Instant; count: number }) {
  const moments: Instant[] = []
  for (let next = cron.next(from); next !== null; next = cron.next(next)) {
    moments.push(next)
    if (moments.length >= count) break
  }
  return {
    timezone: cron.zone,
    description: cron.describe(),
    dst: { ...cron.dst },
    next: moments.map((when, i) => ({
      at: iso(when),
      local: formatInZone(when, cron.zone),
      in_ms: when - from,
      gap_ms: i === 0 ? null : when - moments[i - 1]!,
      note: cron.note(when),
    })),
    transitions: zoneTransitions(cron.zone, from, from + YEAR_MS)
      .slice(0, 2)
      .map(({ at: when, offsetBeforeMs, offsetAfterMs }) => ({
        at: iso(when),
        before: formatInZone(when - 1_000, cron.zone),
        after: formatInZone(when, cron.zone),
        change_ms: offsetAfterMs - offsetBeforeMs,
      })),
  }
}

/** Both walked side by side for a month, or until enough was seen. */
function compared(cron: Cron, body: PreviewBody, from: Instant) {
  const other = compiled(body, 'compare', cron.zone)
  const added: Instant[] = []
  const removed: Instant[] = []
  let until = from + COMPARED_MS
  let a = cron.next(from)
  let b = other.next(from)
  for (let seen = 0; ; seen++) {
    const next = Math.min(a ?? Infinity, b ?? Infinity)
    if (next > until) break
    if (seen >= COMPARED_MAX) {
      until = next
      break
    }
    if (a !== b) (next === b ? added : removed).push(next)
    if (a === next) a = cron.next(next)
    if (b === next) b = other.next(next)
  }
  return {
    cron: body.compare!,
    description: other.describe(),
    is_same: cron.canonical === other.canonical,
    until: iso(until),
    added: added.slice(0, SHOWN_MAX).map(iso),
    removed: removed.slice(0, SHOWN_MAX).map(iso),
    added_count: added.length,
    removed_count: removed.length,
  }
}

export const previewCron = useCase({
  access: 'viewer',
  body: previewBody,
  result: previewAnswer,
  handle: async ({ engine, body }) => preview(body, engine.clock.now()),
})
