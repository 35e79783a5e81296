// Decoding rows one by one: what does not decode is noted and read as a damaged job, and is set
// aside by an ordinary change once the call that met it is over.

import {
  damagedJob,
  DamagedRecord,
  setAside,
  type DamagedEntry,
  type DamagedPart,
  type Remains,
} from '../../core/stored/damage.ts'
import { speaksByPresence, type StoredRecord } from '../../core/record.ts'
import type { Change } from '../../core/change.ts'
import type { Declared, Job } from '../../core/job.ts'
import { INSTANT_MAX, type Instant } from '../../core/time.ts'

/** A row that did not decode. */
export interface Damage {
  /** As far as it can still be told; its version is the stored one. */
  readonly job: Job
  /** Of the lease it is under. */
  readonly token: string | null
  /** The stored text, to be kept. */
  readonly raw: string
}

/** Any failure to decode is damage, but for specs of a newer program, which are whole. */
export function damageOf(thrown: unknown, part: DamagedPart): DamagedRecord {
  if (thrown instanceof DamagedRecord) return thrown
  if (thrown instanceof RangeError) throw thrown
  const why = thrown instanceof Error ? thrown.message : String(thrown)
  return new DamagedRecord(part, `the stored ${part} is unreadable: ${why}`)
}

export function madeDamage(
  remains: Remains,
  error: DamagedRecord,
  more: Pick<Damage, 'token' | 'raw'>,
): Damage {
  return { ...more, job: damagedJob(remains, error) }
}

export function asideChange({ job, token, raw }: Damage, now: Instant): Change {
  return setAside(job, { token, raw }, now)
}

/** Called with every job that was set aside. */
export type DamageListener = (job: Job) => void

/** Called with every record that was set aside. */
export type RecordDamageListener = (entry: DamagedEntry) => void

/** The record, unless its text does not decode: then it is noted and reads as not there. */
export function wholeRecord(
  found: Omit<StoredRecord, 'value'> & { readonly raw: string },
  decode: () => StoredRecord,
  note: (entry: DamagedEntry) => void,
): StoredRecord[] {
  try {
    return [decode()]
  } catch (error) {
    const { kind, key, version, expireAt, raw } = found
    if (speaksByPresence(kind)) return [{ kind, key, value: null, version, expireAt }]
    note({ kind, key, reason: error instanceof Error ? error.message : String(error), raw })
    return []
  }
}

/** What the present call met, and who wants to know. */
export class Damages {
  readonly #noted = new Map<string, Damage>()
  readonly #records = new Map<string, DamagedEntry>()
  readonly #listeners = new Set<DamageListener>()
  readonly #recordListeners = new Set<RecordDamageListener>()

  get isEmpty(): boolean {
    return this.#noted.size === 0 && this.#records.size === 0
  }

  note(damage: Damage): Job {
    this.#noted.set(damage.job.id, damage)
    return damage.job
  }

  take(): Damage[] {
    const noted = [...this.#noted.values()]
    this.#noted.clear()
    return noted
  }

  noteRecord(entry: DamagedEntry): void {
    this.#records.set(`${entry.kind}\0${entry.key}`, entry)
  }

  takeRecords(): DamagedEntry[] {
    const noted = [...this.#records.values()]
    this.#records.clear()
    return noted
  }

  listen(
    listener: DamageListener | undefined,
    recordListener: RecordDamageListener | undefined,
  ): () => void {
    if (listener) this.#listeners.add(listener)
    if (recordListener) this.#recordListeners.add(recordListener)
    return () => {
      if (listener) this.#listeners.delete(listener)
      if (recordListener) this.#recordListeners.delete(recordListener)
    }
  }

  tellRecord(entry: DamagedEntry): void {
    for (const listener of this.#recordListeners) listener(entry)
  }

  tell(job: Job): void {
    for (const listener of this.#listeners) listener(job)
  }
}

/** A count that may have been overwritten with anything. */
export function countOf(value: unknown): number {
  const count = Number(value)
  return Number.isSafeInteger(count) && count >= 0 ? count : 0
}

/** A time that may have been overwritten with anything. */
export function timeOf(value: unknown): Instant {
  const time = countOf(value)
  return time <= INSTANT_MAX ? time : 0
}

/** Who declared the job, as far as that is readable. */
export function declaredOf(text: string | null): Declared | null {
  try {
    const declared = text === null ? null : (JSON.parse(text) as Declared | null)
    return typeof declared?.app === 'string' ? declared : null
  } catch {
    return null
  }
}
