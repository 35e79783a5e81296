// How a job of the demo behaves: how long it takes, how often it fails, what it says. It lies in the
// job's own metadata, under a key callers neither see nor set, so the job plays on after a restart.

import type { Json, JsonObject } from '../core/json.ts'
import type { LogLine } from '../core/history/report.ts'
import { hash32 } from '../core/schedule/spread.ts'
import type { JobSpec } from '../core/spec.ts'
import type { Instant, Millis } from '../core/time.ts'

export const DEMO_KEY = 'carillon:demo'

export interface Temper {
  /** Runs take between these. */
  readonly takesMs: readonly [Millis, Millis]
  /** One of so many runs takes this much longer. */
  readonly slow?: { readonly oneOf: number; readonly times: number }
  /** Share of attempts that fail. */
  readonly fails: number
  /** From here on every attempt fails. */
  readonly failsFrom?: Instant
  readonly error?: string
  /** What it counts: `rows`, `mails`. */
  readonly unit: string
  readonly most: number
  /** Names of numbers kept with each attempt. */
  readonly measures?: readonly string[]
  /** Steps it tells of, one line each. */
  readonly says: readonly string[]
}

export interface Plan {
  readonly tookMs: Millis
  /** Null when it succeeds. */
  readonly error: string | null
  readonly result: JsonObject
  readonly measures: JsonObject
  readonly lines: readonly (Pick<LogLine, 'level' | 'message'> & { readonly afterMs: Millis })[]
}

/** Null for jobs that are not of the demo. */
export function temperOf({ metadata }: Pick<JobSpec, 'metadata'>): Temper | null {
  const held = metadata[DEMO_KEY]
  return held === undefined ? null : (held as unknown as Temper)
}

export function tempered(temper: Temper): JsonObject {
  return { [DEMO_KEY]: temper as unknown as Json }
}

/** In [0, 1): the same for the same words. */
export function share(words: string): number {
  return hash32(words) / 0x1_0000_0000
}

/** What one attempt does; the same for the same seed. */
export function planOf(temper: Temper, seed: string, at: Instant): Plan {
  const { takesMs, slow, fails, failsFrom, unit, most, says } = temper
  const [least, longest] = takesMs
  const isSlow = slow !== undefined && hash32(`${seed} slow`) % slow.oneOf === 0
  const usual = least + share(`${seed} takes`) ** 2 * (longest - least)
  const tookMs = Math.round(usual * (isSlow ? slow.times : 1))
  const isFailing = share(`${seed} fails`) < fails || (failsFrom !== undefined && at >= failsFrom)
  const error = isFailing ? (temper.error ?? 'the other side did not answer in time') : null
  const count = Math.round(share(`${seed} count`) * most)
  const spoken = says.map((message, i) => ({
    level: 'info' as const,
    message: message.replaceAll('#', String(count)),
    afterMs: Math.round((tookMs * i) / says.length),
  }))
  const last = error === null ? [] : [{ level: 'error' as const, message: error, afterMs: tookMs }]
  const done = isSlow
    ? [{ level: 'warn' as const, message: 'slower than usual', afterMs: Math.round(tookMs * 0.9) }]
    : []
  return {
    tookMs: isFailing ? Math.round(tookMs * 0.6) : tookMs,
    error,
    result: { [unit]: count },
    measures: Object.fromEntries((temper.measures ?? []).map(name => [name, count])),
    lines: isFailing ? [...spoken.slice(0, 2), ...last] : [...spoken, ...done],
  }
}
