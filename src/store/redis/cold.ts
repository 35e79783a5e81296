// Specs and the other parts of a job that running it never changes, read through a bounded cache.
// A row names the write that made its spec, so what other processes change is never missed.

import { DamagedRecord } from '../../core/damage.ts'
import type { Declared, Job } from '../../core/job.ts'
import { specFrom, specText, type StoredSpec } from '../../core/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import { NUL } from './codes.ts'
import { kinds } from '../shared/codes.ts'
import { Recent } from '../shared/recent.ts'
import type { Cold } from '../shared/job.ts'
import { fromKey, toKey } from '../shared/text.ts'

interface Stored {
  readonly kind: number
  readonly spec: StoredSpec
  readonly declared: Declared | null
  readonly createdAt: Instant
}

/** Number of the write, id, series, app, and the rest as JSON; '-' is nothing, '=' begins a value. */
export function coldText(job: Job): string {
  const { id, kind, seriesId, spec, declared, createdAt } = job
  const series = optional(seriesId)
  const app = optional(declared === null ? null : declared.app)
  const by = declared === null ? 'null' : JSON.stringify(declared)
  const head = `${job.version}\0${toKey(id)}\0${series}\0${app}\0{"kind":${kinds.indexOf(kind)},`
  return `${head}"spec":${specText(spec)},"declared":${by},"createdAt":${createdAt}}`
}

export function optional(text: string | null): string {
  return text === null ? '-' : `=${toKey(text)}`
}

export function parseCold(text: string): { specAt: number; cold: Cold } {
  const [specAt, id, series, , json] = text.split(NUL)
  const { kind, spec, declared, createdAt } = storedOf(json)
  const seriesId = series === '-' ? null : fromKey(series!.slice(1))
  const cold = {
    id: fromKey(id!),
    kind: kinds[kind]!,
    seriesId,
    spec: specFrom(spec),
    declared,
    createdAt,
  }
  return { specAt: Number(specAt), cold }
}

function storedOf(json: string | undefined): Stored {
  try {
    return JSON.parse(json!) as Stored
  } catch {
    throw new DamagedRecord('spec', 'the stored spec is not JSON')
  }
}

interface Held {
  readonly specAt: number
  readonly cold: Cold
  readonly weight: number
}

/** Characters the cached specs may have been read from. */
const CACHED_TEXT_MAX = 64 * 1024 * 1024
/** What an entry weighs beside its text. */
const ENTRY_WEIGHT = 256

export class ColdCache {
  readonly #held = new Recent<string, Held>(CACHED_TEXT_MAX, held => held.weight)

  get(seq: string, specAt: number): Cold | null {
    const held = this.#held.get(seq)
    return held?.specAt === specAt ? held.cold : null
  }

  put(seq: string, specAt: number, cold: Cold, textLength: number): void {
    const weight = textLength + ENTRY_WEIGHT
    this.#held.set(seq, { specAt, cold, weight })
  }

  drop(seq: string): void {
    this.#held.delete(seq)
  }
}
