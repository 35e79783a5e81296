// New jobs on their way to the store: long lists in batches of which the next is made while the
// store writes the last, short ones together with whatever else is asked for meanwhile.

import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { RecordWrite } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import type { ClaimOnInsert } from '../engine/claim-on-insert.ts'
import type { InsertAnswer, InsertOptions, InsertResult, Store } from '../store/port.ts'

/** Jobs in one call of the store. */
const BATCH_MAX = 1_000
/** Longer lists do not share their calls. */
const SHARED_MAX = 100
/** Calls at once for one list, where the store works beside this process. */
const CALLS_MAX = 3
/** Steps of promises until those who got an answer have asked for more, if they do so at once. */
const COALESCE_STEPS = 16

export interface InsertingParts {
  readonly store: Store
  readonly waitingMax: number | null
  /** Claims in the same step what this process can start at once. */
  readonly node: { claimOnInsert(jobs: readonly Job[]): ClaimOnInsert | null } | null
}

export interface Inserted {
  readonly results: readonly InsertResult[]
  /** Those that were claimed in the same step. */
  readonly begun: ReadonlySet<string>
  /** Starts them: for whoever has heard of their creation. */
  readonly begin: () => void
}

/** What else is written with a job, in the same step. */
export type RecordsOf = (job: Job) => readonly RecordWrite[]

interface PendingInsert {
  readonly jobs: readonly Job[]
  readonly now: Instant
  readonly resolve: (inserted: Inserted) => void
  readonly reject: (error: unknown) => void
}

export class Inserting {
  readonly #parts: InsertingParts
  #pending: PendingInsert[] = []
  #isUnderWay = false

  constructor(parts: InsertingParts) {
    this.#parts = parts
  }

  /**
   * A call that nobody asked for anything beside goes to the store at once. What is asked for while
   * it is under way shares the next one: so many waits for a disk become one.
   */
  insert(jobs: readonly Job[], now: Instant): Promise<Inserted> {
    if (jobs.length > SHARED_MAX) return this.insertWith(jobs, now, () => [])
    return new Promise((resolve, reject) => {
      this.#pending.push({ jobs, now, resolve, reject })
      if (this.#isUnderWay) return
      this.#isUnderWay = true
      // Calls of the same turn are still to come.
      queueMicrotask(() => void this.#serve())
    })
  }

  /** As a list of its own: its records fit or none of its batch is stored. */
  async insertWith(jobs: readonly Job[], now: Instant, recordsOf: RecordsOf): Promise<Inserted> {
    const { waitingMax } = this.#parts
    const optionsOf = (batch: readonly Job[]) => {
      return { now, waitingMax, records: batch.flatMap(recordsOf) }
    }
    if (jobs.length <= SHARED_MAX) return partOf(await this.#call(jobs, optionsOf(jobs)), jobs)
    return untouched(await this.#inBatches(jobs, optionsOf))
  }

  async #inBatches(
    jobs: readonly Job[],
    optionsOf: (batch: readonly Job[]) => InsertOptions,
  ): Promise<InsertResult[]> {
    const { store } = this.#parts
    const callsMax = store.isRemote ? CALLS_MAX : 1
    const results: (readonly InsertResult[])[] = []
    const underWay = new Set<Promise<void>>()
    const send = async (at: number) => {
      const batch = jobs.slice(at, at + BATCH_MAX)
      results[at / BATCH_MAX] = (await store.insert(batch, optionsOf(batch))).results
    }
    try {
      for (let at = 0; at < jobs.length; at += BATCH_MAX) {
        while (underWay.size === callsMax) await Promise.race(underWay)
        const call = send(at)
        underWay.add(call)
        // One that failed stays, and whoever waits next hears of it.
        call.then(
          () => underWay.delete(call),
          () => {},
        )
      }
      await Promise.all(underWay)
      return results.flat()
    } finally {
      // Whoever hears of a failure may rely on nothing more being written.
      await Promise.allSettled(underWay)
    }
  }

  async #serve(): Promise<void> {
    while (this.#pending.length > 0) {
      await this.#together(this.#take())
      for (let step = 0; step < COALESCE_STEPS && this.#pending.length > 0; step++) {
        await Promise.resolve()
      }
    }
    this.#isUnderWay = false
  }

  /** The first ones, as many as fit one call. */
  #take(): PendingInsert[] {
    let count = 0
    const fit = this.#pending.findIndex(({ jobs }) => (count += jobs.length) > BATCH_MAX)
    return this.#pending.splice(0, fit === -1 ? this.#pending.length : fit)
  }

  async #together(group: readonly PendingInsert[]): Promise<void> {
    const { waitingMax } = this.#parts
    const jobs = group.flatMap(one => one.jobs)
    const now = Math.max(...group.map(one => one.now))
    try {
      const call = await this.#call(jobs, { now, waitingMax })
      let at = 0
      for (const { jobs: own, resolve } of group) {
        const results = call.results.slice(at, (at += own.length))
        resolve(partOf({ ...call, results }, own))
      }
    } catch (error) {
      if (group.length === 1 || isOutage(error)) {
        for (const { reject } of group) reject(error)
        // One of them is not to the store's liking: only that one has to hear of it.
      } else for (const one of group) await this.#together([one])
    }
  }

  async #call(jobs: readonly Job[], options: InsertOptions): Promise<Call> {
    const { store, node } = this.#parts
    const claim = node?.claimOnInsert(jobs) ?? null
    if (claim === null) return { ...(await store.insert(jobs, options)), claim }
    try {
      const answer = await store.insert(jobs, { ...options, claim: claim.request })
      const { results, claimed } = answer
      claim.received(claimed.length)
      const made = newIds(jobs, results)
      // Their creation is no news.
      claim.begin(claimed.filter(job => !made.has(job.id)))
      return { ...answer, claim }
    } catch (error) {
      claim.received(0)
      throw error
    }
  }
}

interface Call extends InsertAnswer {
  readonly claim: ClaimOnInsert | null
}

/** What the call did for one of those who shared it. */
function partOf({ results, claimed, claim }: Call, own: readonly Job[]): Inserted {
  if (claim === null) return untouched(results)
  const made = newIds(own, results)
  const ours = claimed.filter(job => made.has(job.id))
  const begun = new Set(ours.map(job => job.id))
  return { results, begun, begin: () => claim.begin(ours) }
}

function untouched(results: readonly InsertResult[]): Inserted {
  return { results, begun: new Set(), begin: () => {} }
}

function newIds(jobs: readonly Job[], results: readonly InsertResult[]): Set<string> {
  return new Set(jobs.flatMap((job, i) => (results[i] === 'inserted' ? job.id : [])))
}

/** Then nobody knows what was written, and asking once more would not tell. */
function isOutage(error: unknown): boolean {
  return error instanceof SchedulerError && error.code === 'STORE_UNAVAILABLE'
}
