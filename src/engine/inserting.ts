// New jobs on their way to the store: long lists in batches of which the next is made while the
// store writes the last, short ones together with whatever else is asked for meanwhile.

import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { RecordWrite } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import type { InsertResult, Store } from '../store/store.ts'

/** Jobs in one call of the store. */
const BATCH_MAX = 1_000
/** Longer lists do not share their calls. */
const SHARED_MAX = 100
/** Calls at once for one list, where the store works beside this process. */
const CALLS_MAX = 2
/** Steps of promises until those who got an answer have asked for more, if they do so at once. */
const BREATH = 16

export interface InsertingParts {
  readonly store: Store
  readonly waitingMax: number | null
}

/** What else is written with a job, in the same step. */
export type RecordsOf = (job: Job) => readonly RecordWrite[]

interface Asked {
  readonly jobs: readonly Job[]
  readonly now: Instant
  readonly resolve: (results: InsertResult[]) => void
  readonly reject: (error: unknown) => void
}

export class Inserting {
  readonly #parts: InsertingParts
  #asked: Asked[] = []
  #isUnderWay = false

  constructor(parts: InsertingParts) {
    this.#parts = parts
  }

  /**
   * A call that nobody asked for anything beside goes to the store at once. What is asked for while
   * it is under way shares the next one: so many waits for a disk become one.
   */
  insert(jobs: readonly Job[], now: Instant): Promise<InsertResult[]> {
    if (jobs.length > SHARED_MAX) return this.insertWith(jobs, now, () => [])
    return new Promise((resolve, reject) => {
      this.#asked.push({ jobs, now, resolve, reject })
      if (this.#isUnderWay) return
      this.#isUnderWay = true
      // Those who ask in the same breath are still to come.
      queueMicrotask(() => void this.#serve())
    })
  }

  /** As a list of its own: its records fit or none of its batch is stored. */
  async insertWith(
    jobs: readonly Job[],
    now: Instant,
    recordsOf: RecordsOf,
  ): Promise<InsertResult[]> {
    const { store, waitingMax } = this.#parts
    const callsMax = store.isRemote ? CALLS_MAX : 1
    const results: InsertResult[] = []
    const underWay: Promise<InsertResult[]>[] = []
    const next = async () => {
      for (const result of await underWay.shift()!) results.push(result)
    }
    try {
      for (let at = 0; at < jobs.length; at += BATCH_MAX) {
        if (underWay.length === callsMax) await next()
        const batch = jobs.slice(at, at + BATCH_MAX)
        const call = store.insert(batch, { now, waitingMax, records: batch.flatMap(recordsOf) })
        // Its failure is told when its turn comes.
        call.catch(() => {})
        underWay.push(call)
      }
      while (underWay.length > 0) await next()
      return results
    } finally {
      // Whoever hears of a failure may rely on nothing more being written.
      await Promise.allSettled(underWay)
    }
  }

  async #serve(): Promise<void> {
    while (this.#asked.length > 0) {
      await this.#together(this.#take())
      for (let step = 0; step < BREATH && this.#asked.length > 0; step++) {
        await Promise.resolve()
      }
    }
    this.#isUnderWay = false
  }

  /** The first ones, as many as fit one call. */
  #take(): Asked[] {
    let count = 0
    const fit = this.#asked.findIndex(({ jobs }) => (count += jobs.length) > BATCH_MAX)
    return this.#asked.splice(0, fit === -1 ? this.#asked.length : fit)
  }

  async #together(group: readonly Asked[]): Promise<void> {
    const { store, waitingMax } = this.#parts
    const jobs = group.flatMap(asked => asked.jobs)
    const now = Math.max(...group.map(asked => asked.now))
    try {
      const results = await store.insert(jobs, { now, waitingMax })
      let at = 0
      for (const { jobs: own, resolve } of group) resolve(results.slice(at, (at += own.length)))
    } catch (error) {
      if (group.length === 1 || isOutage(error)) {
        for (const { reject } of group) reject(error)
        // One of them is not to the store's liking: only that one has to hear of it.
      } else for (const asked of group) await this.#together([asked])
    }
  }
}

/** Then nobody knows what was written, and asking once more would not tell. */
function isOutage(error: unknown): boolean {
  return error instanceof SchedulerError && error.code === 'STORE_UNAVAILABLE'
}
