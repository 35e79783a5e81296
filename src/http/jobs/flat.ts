// The flat fields of a crawl job, kept as they were given: `60 minutes` stays 60 minutes. They lie
// in the job's metadata under a key that callers neither see nor set.

import type { Job } from '../../core/job.ts'
import type { JsonObject } from '../../core/json.ts'
import { DAY, HOUR, MINUTE, type Millis } from '../../core/time.ts'

/** Begins the keys of a job's metadata that belong to the service. */
export const RESERVED = 'carillon:'
export const FLAT_KEY = `${RESERVED}flat`

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

const unitMs: Readonly<Record<IntervalType, Millis>> = { minutes: MINUTE, hours: HOUR, days: DAY }

/** A plain count in its unit; minutes unless told. */
export function intervalMs(flat: Flat): Millis | null {
  const { interval_minutes, interval_type } = flat
  return interval_minutes === null ? null : interval_minutes * unitMs[interval_type ?? 'minutes']
}

/** Null for jobs that were made in the native form. */
export function flatOf(metadata: JsonObject): Flat | null {
  const held = metadata[FLAT_KEY]
  return held === undefined ? null : (held as unknown as Flat)
}

/** What a job is about, for people: its source, or its own name. */
export function sourceOf({ spec }: Job): string {
  const flat = flatOf(spec.metadata)
  return flat?.source_name ?? flat?.source_id ?? spec.name
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
