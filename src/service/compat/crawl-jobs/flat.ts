// The flat fields of a crawl job, kept as they were given: `60 minutes` stays 60 minutes. They lie
// in the job's metadata under a key that callers neither see nor set.

import type { Job } from '../../../core/job.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { JobSpec } from '../../../core/spec.ts'
import { DAY, HOUR, MINUTE, type Instant, type Millis } from '../../../core/time.ts'
import type { Trigger } from '../../../core/schedule/trigger.ts'

/** Begins the keys of a job's metadata that belong to the service. */
export const RESERVED = 'carillon:'
export const FLAT_KEY = `${RESERVED}flat`
const ANCHOR_KEY = `${RESERVED}anchor`

export const intervalTypes = ['minutes', 'hours', 'days'] as const
export type IntervalType = (typeof intervalTypes)[number]

export interface Flat {
  readonly source_id: string | null
  readonly source_name: string | null
  readonly interval_minutes: number | null
  readonly interval_type: IntervalType | null
  readonly schedule_time: string | null
  readonly schedule_enabled: boolean
}

export const unitMs: Readonly<Record<IntervalType, Millis>> = {
  minutes: MINUTE,
  hours: HOUR,
  days: DAY,
}

/** A plain count in its unit; minutes unless told. */
export function intervalMs(flat: Flat): Millis | null {
  const { interval_minutes, interval_type } = flat
  return interval_minutes === null ? null : interval_minutes * unitMs[interval_type ?? 'minutes']
}

/** What the job says in the crawl form about its source and schedule, however it was made. */
export function scheduleOf({ metadata, trigger }: Pick<JobSpec, 'metadata' | 'trigger'>): Flat {
  const held = flatOf(metadata) ?? noFlat
  // What was said in the native form since.
  const isSaid = held.interval_minutes !== null || held.schedule_time !== null
  if (isSaid) return held
  const { interval_minutes, interval_type } = intervalOf(trigger)
  const schedule_time = timeOf(trigger)
  const schedule_enabled = interval_minutes !== null || schedule_time !== null
  return { ...held, interval_minutes, interval_type, schedule_time, schedule_enabled }
}

export const noFlat: Flat = {
  source_id: null,
  source_name: null,
  interval_minutes: null,
  interval_type: null,
  schedule_time: null,
  schedule_enabled: false,
}

const units = [
  ['days', DAY],
  ['hours', HOUR],
  ['minutes', MINUTE],
] as const

function intervalOf(trigger: Trigger): Pick<Flat, 'interval_minutes' | 'interval_type'> {
  if (trigger.kind !== 'interval') return { interval_minutes: null, interval_type: null }
  const unit = units.find(([, size]) => trigger.everyMs % size === 0)
  if (!unit) return { interval_minutes: null, interval_type: null }
  return { interval_minutes: trigger.everyMs / unit[1], interval_type: unit[0] }
}

/** Times of the crawl form are extended cron in UTC. */
function timeOf(trigger: Trigger): string | null {
  if (trigger.kind !== 'cron') return null
  const { expression, zone, dialect } = trigger
  return zone === 'UTC' && dialect === 'extended' ? expression : null
}

/** A moment of the grid on which an interval that was a cron time goes on; null without one. */
export function anchorOf(metadata: JsonObject): Instant | null {
  const held = metadata[ANCHOR_KEY]
  return typeof held === 'number' ? held : null
}

/** The same with this anchor, or without one. */
export function withAnchor(metadata: JsonObject, anchor: Instant | null): JsonObject {
  const { [ANCHOR_KEY]: _, ...others } = metadata
  return anchor === null ? others : { ...others, [ANCHOR_KEY]: anchor }
}

/** Null for jobs that were made in the native form. */
export function flatOf(metadata: JsonObject): Flat | null {
  const held = metadata[FLAT_KEY]
  return held === undefined ? null : (held as unknown as Flat)
}

export function formOf({ spec }: Pick<Job, 'spec'>): JobForm {
  return flatOf(spec.metadata) === null ? 'native' : 'crawl'
}

/** What a crawl job is about, for people; null for jobs made in the native form. */
export function sourceOf({ spec }: Job): string | null {
  const flat = flatOf(spec.metadata)
  return flat === null ? null : (flat.source_name ?? flat.source_id ?? spec.name)
}

/** The caller's own metadata. */
export function visibleMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith(RESERVED)))
}

/** The caller's metadata with what the service keeps there. */
export function withReserved(
  visible: JsonObject,
  before: JsonObject,
  flat: Flat | null,
): JsonObject {
  const reserved = Object.entries(before).filter(
    ([key]) => key.startsWith(RESERVED) && key !== FLAT_KEY,
  )
  const kept = { ...visible, ...Object.fromEntries(reserved) }
  return flat === null ? kept : { ...kept, [FLAT_KEY]: { ...flat } }
}

/** What a job says in one form is left out of the other. */
export const jobForms = ['crawl', 'native'] as const
export type JobForm = (typeof jobForms)[number]

export const askedForms = [...jobForms, 'both'] as const
export type AskedForm = (typeof askedForms)[number]

export const crawlOnly = [
  'source_id',
  'source_name',
  'url',
  'interval_minutes',
  'interval_type',
  'schedule_time',
  'schedule_enabled',
  'max_retries',
  'retry_backoff_seconds',
] as const

export const nativeOnly = ['trigger', 'handler', 'action', 'payload', 'retry'] as const

type FormField = (typeof crawlOnly)[number] | (typeof nativeOnly)[number]

/** Without the fields that only the other form has. */
export function inForm<T extends { readonly form: JobForm }>(
  view: T,
  asked: AskedForm = view.form,
): Omit<T, FormField> & Partial<T> {
  const shown: Partial<Record<string, unknown>> = { ...view }
  const others = { crawl: nativeOnly, native: crawlOnly, both: [] }[asked]
  for (const field of others) delete shown[field]
  return shown as Omit<T, FormField> & Partial<T>
}
