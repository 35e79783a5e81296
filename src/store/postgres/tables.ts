// What every operation works with: the connection, and what is known of the database beside it.

import type { DamagedRecord } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { numbers } from './arrays.ts'
import {
  coldColumns,
  JOB_WIDTH,
  jobColumns,
  type ColdRow,
  type JobRow,
  type Row,
} from './columns.ts'
import type { Connection, Value } from './connection.ts'
import { Places } from './places.ts'
import { Recent } from '../shared/recent.ts'
import { toJob } from '../shared/job.ts'
import { damageOf } from '../shared/damage.ts'
import { provisionalJob, toCold, toHot } from './record.ts'
import { Serial } from './serial.ts'
import { Specs } from './specs.ts'

export interface Numbered {
  readonly seq: number
  readonly job: Job
}

/** What a row says about its lease. */
export interface Leased {
  readonly seq: number
  readonly fence: number
  readonly attemptId: string
  readonly claimedAt: Instant
}

const LEASED_MAX = 100_000

export class Tables {
  readonly connection: Connection
  readonly places: Places
  readonly specs: Specs
  /** Leases of the jobs claimed here, by id: settling them needs no search. */
  readonly leased: Recent<string, Leased>
  /** Whether claims bring the specs along: as long as some are not known here yet. */
  bringsSpecs = true

  /** Numbers of jobs that did not decode, and why; the store sets them aside after the call. */
  readonly damaged: Map<number, DamagedRecord>

  /** Queues whose last claim gave all it was asked for. */
  readonly crowded: Set<string>
  /** Settles come one after the other: in parallel they take longer. */
  readonly settling = new Serial()

  /** Whether the server's clock judges too what is due; a test owns time alone. */
  readonly asksServer: boolean

  constructor(connection: Connection, asksServer: boolean, known?: Tables) {
    this.connection = connection
    this.asksServer = asksServer
    this.places = known?.places ?? new Places(connection)
    this.specs = known?.specs ?? new Specs()
    this.leased = known?.leased ?? new Recent<string, Leased>(LEASED_MAX)
    this.damaged = known?.damaged ?? new Map()
    this.crowded = known?.crowded ?? new Set()
  }

  /**
   * The same tables seen through a transaction. What is remembered is shared: of a transaction that
   * was taken back it holds nothing false, for numbers of jobs are never given twice.
   */
  inside(connection: Connection): Tables {
    return new Tables(connection, this.asksServer, this)
  }

  get schema(): string {
    return this.connection.schema
  }

  /** `sql` selects whole jobs; see `selectJobs`. */
  async jobs(sql: string, values: readonly Value[]): Promise<Job[]> {
    return (await this.connection.rows(sql, values)).map(row => this.jobOf(row))
  }

  /**
   * A row that begins with `jobColumns` and `coldColumns`. What does not decode is noted and read as
   * a damaged job, without what only other tables tell of it.
   */
  jobOf(row: Row): Job {
    try {
      return this.#decoded(row)
    } catch (thrown) {
      const error = damageOf(thrown, 'state')
      this.damaged.set(Number(row[0]), error)
      return provisionalJob(row, error)
    }
  }

  #decoded(row: Row): Job {
    const seq = Number(row[0])
    const specAt = Number(row[1])
    let cold = this.specs.find(seq, specAt)
    if (cold === null) {
      cold = toCold(row.slice(JOB_WIDTH) as ColdRow)
      this.specs.keep(seq, specAt, cold, row[JOB_WIDTH]!.length)
    }
    return toJob(toHot(row as JobRow), cold)
  }

  /** Jobs with their numbers, for those who must order them. */
  async numbered(seqs: readonly number[]): Promise<Numbered[]> {
    if (seqs.length === 0) return []
    const sql = `${this.selectJobs()} where j.seq = any ($1)`
    const rows = await this.connection.call(sql, [numbers(seqs)])
    return rows.map(row => ({ seq: Number(row[0]), job: this.jobOf(row) }))
  }

  async jobsBySeq(seqs: readonly number[]): Promise<Job[]> {
    return (await this.numbered(seqs)).map(found => found.job)
  }

  selectJobs(): string {
    return `select ${jobColumns}, ${coldColumns}
      from ${this.schema}.jobs j left join ${this.schema}.specs x on x.seq = j.seq`
  }
}
