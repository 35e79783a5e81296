// One history: the stores it goes through, what is known about its jobs, and what was met so far.

import type { Change } from '../../src/core/change.ts'
import type { Job } from '../../src/core/job.ts'
import { jsonEqual } from '../../src/core/json.ts'
import type { Store } from '../../src/store/port.ts'
import { makeIds, readAll, virtualClock, type Clock, type Ids } from '../support/builders.ts'
import {
  checkHistory,
  checkJob,
  checkStep,
  type History,
  type StepKind,
} from '../support/invariants.ts'
import { Random } from '../support/random.ts'

/** What many histories met together. */
export interface Findings {
  /** How often each operation ended in each way, as `pause:committed`. */
  readonly met: Map<string, number>
  /** Broken rules and where they were seen first, in histories that begin every claim at once. */
  readonly broken: Map<string, string>
  /** The same in histories where anything may come between claim and begin. */
  readonly brokenBetween: Map<string, string>
}

export interface NamedStore {
  readonly name: string
  readonly store: Store
}

export interface Asked {
  readonly name: string
  readonly kind: StepKind
  readonly change: Change
}

export class World {
  readonly random: Random
  readonly clock: Clock = virtualClock()
  readonly ids: Ids = makeIds()
  /** The jobs as the reference store has them. */
  jobs = new Map<string, Job>()
  readonly history = new Map<string, History>()
  /** Changes held back, to be committed when they are stale. */
  readonly held: Asked[] = []
  step = 0
  /** How many results were met so far. */
  count = 0
  readonly #seed: number
  readonly #stores: readonly NamedStore[]
  readonly #findings: Findings
  readonly #begun = new Set<string>()
  /** The jobs as they were when last checked. */
  #checked = new Map<string, Job>()

  constructor(seed: number, stores: readonly NamedStore[], findings: Findings) {
    this.#seed = seed
    this.random = new Random(seed)
    this.#stores = stores
    this.#findings = findings
  }

  /** In half of the histories a claim is begun in the same step, as nodes do. */
  get isPrompt(): boolean {
    return this.#seed % 2 === 1
  }

  get now(): number {
    return this.clock.now
  }

  get reference(): Store {
    return this.#stores[0]!.store
  }

  get where(): string {
    return `seed ${this.#seed}, step ${this.step}`
  }

  /** The same call to every store; the answers must be equal. */
  async all<T>(what: string, call: (store: Store) => Promise<T>): Promise<T> {
    const [first, ...others] = this.#stores
    const expected = await call(first!.store)
    for (const { name, store } of others) {
      const actual = await call(store)
      if (!jsonEqual(expected, actual)) {
        throw new Disagreement(`${this.where}: ${what} differs in ${name}`, expected, actual)
      }
    }
    return expected
  }

  meet(operation: string, result: string): void {
    this.count++
    const key = `${operation}:${result}`
    this.#findings.met.set(key, (this.#findings.met.get(key) ?? 0) + 1)
  }

  pickJob(fits: (job: Job) => boolean = () => true): Job | null {
    const fitting = [...this.jobs.values()].filter(fits)
    return fitting.length === 0 ? null : this.random.pick(fitting)
  }

  markBegun(job: Job): void {
    this.#begun.add(`${job.id}#${job.counters.fence}`)
  }

  isBegun(job: Job): boolean {
    return this.#begun.has(`${job.id}#${job.counters.fence}`)
  }

  /** A write core or the stores made: checked against the rules, its history kept. */
  wrote(before: Job, after: Job, kind: StepKind, change: Change | null = null): void {
    const rules = checkStep(before, after, kind)
    if (change) {
      const history = this.history.get(after.id) ?? { attempts: [], skips: [] }
      this.history.set(after.id, history)
      if (change.attempt) history.attempts.push(change.attempt)
      history.skips.push(...change.skips)
    }
    this.jobs.set(after.id, after)
    const unbegun = before.state === 'running' && !this.isBegun(before)
    this.#note(rules, `${kind} of ${unbegun ? 'an unbegun ' : ''}job ${after.id}`)
  }

  #note(rules: readonly string[], what: string): void {
    const { broken, brokenBetween } = this.#findings
    const found = this.isPrompt ? broken : brokenBetween
    for (const rule of rules) {
      if (!found.has(rule)) found.set(rule, `${this.where}: ${what}`)
    }
  }

  /** Reads the jobs anew and checks those that changed. */
  async refresh(what: string): Promise<void> {
    const before = this.#checked
    const jobs = await readAll(page => this.reference.list({}, page))
    this.jobs = new Map(jobs.map(job => [job.id, job]))
    this.#checked = new Map(this.jobs)
    for (const job of jobs) {
      if (before.get(job.id) === job) continue
      const history = this.history.get(job.id) ?? { attempts: [], skips: [] }
      const rules = [...checkJob(job), ...checkHistory(job, history, this.isBegun(job))]
      this.#note(rules, `${what}, job ${job.id}`)
    }
    for (const id of this.history.keys()) if (!this.jobs.has(id)) this.history.delete(id)
  }
}

export class Disagreement extends Error {
  readonly expected: unknown
  readonly actual: unknown

  constructor(message: string, expected: unknown, actual: unknown) {
    super(`${message}\nexpected ${text(expected)}\nactual   ${text(actual)}`)
    this.name = 'Disagreement'
    this.expected = expected
    this.actual = actual
  }
}

function text(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 4_000) ?? 'undefined'
}
