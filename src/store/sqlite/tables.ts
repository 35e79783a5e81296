// What every operation works with: the connection, and what is known of the database beside it.

import type { Job } from '../../core/job.ts'
import type { Connection } from './connection.ts'
import type { Row, Statement, Value } from '../sql/sqlite/driver.ts'
import { isBusy } from '../sql/sqlite/errors.ts'
import { Leases } from './leases.ts'
import { Lines } from './lines.ts'
import { Damages } from '../shared/damage.ts'
import { readDamage } from './damage.ts'
import { Recent } from '../shared/recent.ts'
import { jobColumns, type JobRow } from './columns.ts'
import { toJob } from './record.ts'
import { Specs } from './specs.ts'
import { Tallies } from './tallies.ts'
import { toKey } from '../shared/text.ts'

export interface Numbered {
  readonly seq: number
  readonly job: Job
}

/** A row that was leased and the attempt it was leased for. */
export type Lent = readonly [seq: number, attemptId: string]

const LEASED_MAX = 100_000

const oneBySeq = `select ${jobColumns} from jobs where seq = ?`
const oneById = `select ${jobColumns} from jobs where id = ?`
/** The cross joins keep the list outermost: it leads to the rows. */
const manyBySeq = 'from json_each(?) e cross join jobs on jobs.seq = e.value'
const manyById = 'from json_each(?) e cross join jobs on jobs.id = e.value'

export class Tables {
  readonly connection: Connection
  readonly lines: Lines
  readonly specs: Specs
  readonly tallies: Tallies
  readonly leases: Leases
  /** The jobs claimed here, by id: settling them needs no search. */
  readonly leased = new Recent<string, Lent>(LEASED_MAX)
  readonly damages: Damages
  /** Queues whose last claim gave all it was asked for. */
  readonly crowded = new Set<string>()
  /** Whether any job had progress when the write asked first. */
  #hasProgress: boolean | null = null
  /** The next number of a job while a write gives some out. */
  #nextSeq: number | null = null

  constructor(connection: Connection, damages = new Damages()) {
    this.connection = connection
    this.damages = damages
    this.lines = new Lines(connection)
    this.specs = new Specs(connection)
    this.tallies = new Tallies(connection, this.lines)
    this.leases = new Leases(connection)
  }

  statement(sql: string): Statement {
    return this.connection.statement(sql)
  }

  glance<T>(work: () => T): T {
    return this.connection.glance(work)
  }

  read<T>(work: () => T): T {
    return this.connection.read(work)
  }

  /** What a failed write had learned is forgotten with it. */
  write<T>(work: () => T): T {
    try {
      return this.connection.write(() => {
        const result = work()
        this.#flush()
        return result
      })
    } catch (error) {
      this.#nextSeq = null
      this.#hasProgress = null
      this.tallies.discard()
      this.leases.discard()
      // A write that never began has learned nothing.
      if (isBusy(error)) throw error
      this.lines.forget()
      this.specs.forget()
      this.leased.clear()
      throw error
    }
  }

  /** Inside a write. A number is never given twice, not even after its job is gone. */
  takeSeq(): number {
    this.#nextSeq ??= this.statement('select next from sequence').get()![0] as number
    return this.#nextSeq++
  }

  /** Inside a write that itself adds none. */
  get hasProgress(): boolean {
    this.#hasProgress ??= this.statement('select 1 from progress limit 1').get() !== undefined
    return this.#hasProgress
  }

  #flush(): void {
    this.#hasProgress = null
    this.tallies.flush()
    this.leases.flush()
    if (this.#nextSeq === null) return
    this.statement('update sequence set next = ?').run(this.#nextSeq)
    this.#nextSeq = null
  }

  /** What does not decode is read as a damaged job, and noted. */
  jobOf(row: Row): Job {
    const jobRow = row as JobRow
    try {
      return toJob(jobRow, this.specs.of(jobRow))
    } catch (error) {
      return this.damages.note(readDamage(this, jobRow[0], error))
    }
  }

  jobs(sql: string, ...values: Value[]): Job[] {
    return this.numbered(sql, ...values).map(found => found.job)
  }

  /** Jobs with their numbers, for those who must order them. */
  numbered(sql: string, ...values: Value[]): Numbered[] {
    return this.statement(sql)
      .all(...values)
      .map(row => ({ seq: row[0] as number, job: this.jobOf(row) }))
  }

  /**
   * Rows of the columns given, each as one JSON text: to hand over a value costs more than to write
   * and read it. For rows of many columns, and columns of numbers and text only.
   */
  packed(columns: string, rest: string, ...values: Value[]): Row[] {
    const rows = this.statement(`select json_array(${columns}) ${rest}`).all(...values)
    return rows.map(row => JSON.parse(row[0] as string) as Row)
  }

  /** The same as one text for all of them, in any order: for bounded numbers of rows of `jobs`. */
  packedAll(columns: string, rest: string, ...values: Value[]): Row[] {
    const sql = `select json_group_array(json_array(${columns})) from (select ${columns} ${rest}) jobs`
    return JSON.parse(this.statement(sql).get(...values)![0] as string) as Row[]
  }

  /** Those that exist, in the order given. A call costs more than a row: many are read at once. */
  ofSeqs(seqs: readonly number[]): Job[] {
    if (seqs.length === 1) return this.jobs(oneBySeq, seqs[0]!)
    const rows = this.packed(jobColumns, manyBySeq, JSON.stringify(seqs))
    const bySeq = new Map(rows.map(row => [row[0] as number, this.jobOf(row)]))
    return seqs.flatMap(seq => bySeq.get(seq) ?? [])
  }

  ofIds(ids: readonly string[]): Job[] {
    if (ids.length === 1) return this.jobs(oneById, toKey(ids[0]!))
    const rows = this.packed(jobColumns, manyById, JSON.stringify(ids.map(toKey)))
    const byId = new Map(rows.map(row => this.jobOf(row)).map(job => [job.id, job]))
    return ids.flatMap(id => byId.get(id) ?? [])
  }
}
