// What happens on other nodes, found by looking at the store: which runs are under way, which
// attempts are new. One look serves every reader, and each look is bounded.

import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { SECOND, type Instant, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import type { Page } from '../../store/port.ts'
import { settledFacts, startedFact, type Fact } from './facts.ts'

/** Clocks of nodes differ and commits take a while: what was claimed so long ago is read again. */
const OVERLAP_MS: Millis = 5 * SECOND
const PAGES_MAX = 4
const MISSING_MAX = 50
const TOLD_MAX = 20_000

export interface Seen {
  readonly facts: readonly Fact[]
  /** More happened than one look takes in: readers should read anew. */
  readonly isCut: boolean
}

export class Feed {
  readonly #engine: Engine
  /** Attempts of which the start or the end was told already, by whoever came first. */
  readonly #told = new Set<string>()
  #live = new Map<string, Job>()
  #lookedAt: Instant | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** True the first time; so that what this node told itself is not found again. */
  tellStart(attemptId: string): boolean {
    return this.#tell(`+${attemptId}`)
  }

  tellEnd(attemptId: string): boolean {
    return this.#tell(`-${attemptId}`)
  }

  #tell(key: string): boolean {
    if (this.#told.has(key)) return false
    this.#told.add(key)
    if (this.#told.size > TOLD_MAX) {
      for (const old of this.#told) {
        this.#told.delete(old)
        if (this.#told.size <= TOLD_MAX / 2) break
      }
    }
    return true
  }

  /** The first look tells nothing: it only learns where things stand. */
  async look(): Promise<Seen> {
    const { clock } = this.#engine
    const now = clock.now()
    const since = this.#lookedAt
    const running = await this.#running()
    const recent = await this.#recent((since ?? now) - OVERLAP_MS)
    this.#lookedAt = now
    if (since === null) {
      for (const { id } of recent.attempts) this.tellEnd(id)
      for (const id of running.jobs.keys()) this.tellStart(id)
      this.#live = running.jobs
      return { facts: [], isCut: false }
    }
    const started = [...running.jobs.values()]
      .filter(job => this.tellStart(job.lease!.attemptId))
      .map(startedFact)
    const gone = await this.#gone(running, recent.attempts)
    const settled = [...gone, ...recent.attempts]
      .filter(({ id }) => this.tellEnd(id))
      .sort((a, b) => a.finishedAt - b.finishedAt)
    return { facts: [...started, ...(await this.#settled(settled))], isCut: recent.isCut }
  }

  async #running(): Promise<{ jobs: Map<string, Job>; isWhole: boolean }> {
    const jobs = new Map<string, Job>()
    let cursor: string | null = null
    for (let page = 0; page < PAGES_MAX; page++) {
      const found: Page<Job> = await this.#engine.store.list(
        { states: ['running'] },
        { limit: limits.pageMax, cursor },
      )
      for (const job of found.items) if (job.lease) jobs.set(job.lease.attemptId, job)
      cursor = found.cursor
      if (cursor === null) return { jobs, isWhole: true }
    }
    return { jobs, isWhole: false }
  }

  async #recent(since: Instant): Promise<{ attempts: Attempt[]; isCut: boolean }> {
    const attempts: Attempt[] = []
    let cursor: string | null = null
    for (let page = 0; page < PAGES_MAX; page++) {
      const found: Page<Attempt> = await this.#engine.store.attempts(
        {},
        { limit: limits.pageMax, cursor, newestFirst: true },
      )
      for (const attempt of found.items) {
        if (attempt.claimedAt < since) return { attempts, isCut: false }
        attempts.push(attempt)
      }
      cursor = found.cursor
      if (cursor === null) return { attempts, isCut: false }
    }
    return { attempts, isCut: true }
  }

  /** Runs that were under way and are no longer: long ones are not among the newest attempts. */
  async #gone(
    running: { jobs: Map<string, Job>; isWhole: boolean },
    recent: readonly Attempt[],
  ): Promise<Attempt[]> {
    const known = new Set(recent.map(({ id }) => id))
    const live = new Map(running.jobs)
    const found: Attempt[] = []
    let looked = 0
    for (const [id, job] of this.#live) {
      if (live.has(id) || known.has(id) || this.#told.has(`-${id}`)) continue
      if (!running.isWhole || looked >= MISSING_MAX) {
        live.set(id, job)
        continue
      }
      looked++
      const { items } = await this.#engine.store.attempts({ id }, { limit: 1 })
      found.push(...items)
    }
    this.#live = live
    return found
  }

  async #settled(attempts: readonly Attempt[]): Promise<Fact[]> {
    const ids = [...new Set(attempts.map(({ jobId }) => jobId))]
    const jobs = new Map<string, Job>()
    for (let at = 0; at < ids.length; at += limits.pageMax) {
      const bite = ids.slice(at, at + limits.pageMax)
      for (const job of await this.#engine.store.get(bite)) jobs.set(job.id, job)
    }
    return attempts.flatMap(attempt => {
      const job = jobs.get(attempt.jobId)
      return job ? settledFacts(job, attempt) : []
    })
  }
}
