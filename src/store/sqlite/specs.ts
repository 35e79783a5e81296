// Specs and the other parts of a job that running it never changes, read through a bounded cache.
// The key names the write that made the spec, so what other processes change is never missed.

import { DamagedRecord } from '../../core/damage.ts'
import type { Declared, Job } from '../../core/job.ts'
import { parseSpec, specText } from '../../core/spec-text.ts'
import { bulkSql } from './bulk.ts'
import type { Connection } from './connection.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { tenantOfLane } from '../shared/damage.ts'
import { Recent } from '../shared/recent.ts'
import { type JobRow } from './columns.ts'
import { kinds } from '../shared/codes.ts'
import type { Cold, Place } from './record.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'

interface Held {
  readonly cold: Cold
  readonly specAt: number
  readonly weight: number
}

/** Characters of JSON the cached specs may have been read from. */
const CACHED_TEXT_MAX = 64 * 1024 * 1024
/** What an entry weighs beside its text. */
const ENTRY_WEIGHT = 256

const coldSql = `select jobs.id, kind, series, line, spec, declared, created_at
  from specs join jobs on jobs.seq = specs.seq where specs.seq = ?`
type ColdRow = [string, number, string | null, number, string, string | null, number]

const SPEC_WIDTH = 7
const writeSpecsSql = (rows: string) => `insert or replace into specs values ${rows}`

export class Specs {
  readonly #connection: Connection
  readonly #cache = new Recent<number, Held>(CACHED_TEXT_MAX, held => held.weight)

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Inside the transaction that read the row. */
  of(row: JobRow): Cold {
    return this.get(row[0], row[1])
  }

  get(seq: number, specAt: number): Cold {
    const held = this.#cache.get(seq)
    if (held?.specAt === specAt) return held.cold
    const row = this.#connection.statement(coldSql).get(seq)
    if (row === undefined) throw new DamagedRecord('spec', 'the spec of the job is missing')
    const [id, kind, series, line, spec, declared, createdAt] = row as ColdRow
    const cold: Cold = {
      id: fromKey(id),
      kind: kinds[kind]!,
      seriesId: fromKeyOrNull(series),
      line,
      spec: parseSpec(spec),
      declared: declared === null ? null : (JSON.parse(declared) as Declared),
      createdAt,
    }
    return this.#keep(seq, specAt, cold, spec.length)
  }

  /** Inside the write that also gives the row this `specAt`. */
  write(job: Job, place: Place): void {
    const sql = bulkSql('write specs', SPEC_WIDTH, 1, writeSpecsSql)
    const values: Value[] = []
    this.#push(values, job, place)
    this.#connection.statement(sql).run(...values)
  }

  /** Of jobs that were not there before. */
  writeNew(jobs: readonly Job[], places: readonly Place[]): void {
    const values: Value[] = []
    for (const [i, job] of jobs.entries()) this.#push(values, job, places[i]!)
    const sql = bulkSql('write specs', SPEC_WIDTH, jobs.length, writeSpecsSql)
    this.#connection.statement(sql).run(...values)
  }

  #push(values: Value[], job: Job, { seq, line, specAt }: Place): void {
    const { id, kind, seriesId, spec, declared, createdAt } = job
    const text = specText(spec)
    this.#keep(seq, specAt, { id, kind, seriesId, line, spec, declared, createdAt }, text.length)
    values.push(
      seq,
      text,
      toKey(spec.tenant),
      toKeyOrNull(declared === null ? null : declared.app),
      toKeyOrNull(declared === null ? null : declared.definition),
      declared === null ? null : JSON.stringify(declared),
      createdAt,
    )
  }

  /** As it is stored, whatever the cache holds. */
  tenantOf(seq: number): string {
    const row = this.#connection
      .statement(
        `select tenant, lane from jobs left join specs on specs.seq = jobs.seq where jobs.seq = ?`,
      )
      .get(seq) as [string | null, string]
    return row[0] === null ? tenantOfLane(fromKey(row[1])) : fromKey(row[0])
  }

  drop(seq: number): void {
    this.#cache.delete(seq)
  }

  forget(): void {
    this.#cache.clear()
  }

  #keep(seq: number, specAt: number, cold: Cold, textLength: number): Cold {
    const weight = textLength + ENTRY_WEIGHT
    this.#cache.set(seq, { specAt, weight, cold })
    return cold
  }
}
