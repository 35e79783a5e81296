// Looks at the node, the store and the jobs that ran, judges, and shows what it found.

import { isEnded } from '../../core/job.ts'
import { isLastRunOver } from '../../core/history/run.ts'
import type { StoredRecord } from '../../core/record.ts'
import { SECOND, type Instant, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import type { EngineEvents } from '../../runtime/events.ts'
import { recentAttempts } from '../../watch/recent.ts'
import { Repeat } from '../../runtime/repeat.ts'
import {
  CLAIM_WINDOW_MS,
  ERROR_WINDOW_MS,
  HISTORY_MS,
  judgeDelay,
  judgeJob,
  judgeNode,
  judgeStaleLocks,
  type AlertLimits,
  type Finding,
} from './conditions.ts'
import type { AlertSender } from './sender.ts'
import { Window } from './window.ts'
import { OwnAlerts, SharedAlerts, type Judged, type Subject } from './alert-state.ts'

const CHECK_MS: Millis = 10 * SECOND
/** Jobs and cleared leases are looked at in every so many-th check. */
const JOBS_EVERY = 6
/** Jobs that ran since, at most; those beyond wait for their next run. */
const JOBS_MAX = 200
/** Attempts of one job that are looked at. */
const ATTEMPTS_MAX = 100
const ANSWER_MS: Millis = 5 * SECOND
const SAMPLES_MAX = 101

export interface WatchParts {
  readonly engine: Engine
  readonly limits: AlertLimits
  readonly sender: AlertSender
  /** How many leases of dead holders were ever cleared. */
  readonly cleared: () => Promise<number>
}

export class AlertWatch {
  readonly #parts: WatchParts
  readonly #own: OwnAlerts
  readonly #shared: SharedAlerts
  readonly #errors = new Window(ERROR_WINDOW_MS)
  readonly #rounds = new Window(ERROR_WINDOW_MS)
  readonly #runs = new Window(ERROR_WINDOW_MS)
  readonly #claims = new Window(CLAIM_WINDOW_MS)
  readonly #failedClaims = new Window(CLAIM_WINDOW_MS)
  readonly #ran = new Map<string, Subject>()
  readonly #samples: number[] = []
  readonly #repeat: Repeat
  readonly #stops: (() => void)[]
  #downSince: Instant | null = null
  #checks = 0

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#own = new OwnAlerts(parts)
    this.#shared = new SharedAlerts(parts)
    const { clock, events } = parts.engine
    this.#repeat = new Repeat(
      clock,
      () => CHECK_MS,
      () => this.check().then(() => true),
    )
    this.#stops = [
      events.on('error', event => this.#failed(event)),
      events.on('ticked', () => {
        this.#rounds.add(clock.now())
        this.#claims.add(clock.now())
      }),
      events.on('settled', event => this.#settled(event)),
    ]
  }

  start(): void {
    this.#repeat.start()
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop()
    await this.#repeat.stop()
  }

  /** One round; what cannot be read is judged in the next one. */
  async check(): Promise<void> {
    const { engine, limits } = this.#parts
    const now = engine.clock.now()
    const answers = await this.#answers()
    this.#downSince = answers ? null : (this.#downSince ?? now)
    const facts = {
      errors: this.#errors.sum(now),
      rounds: this.#rounds.sum(now),
      runs: this.#runs.sum(now),
      claims: { failed: this.#failedClaims.sum(now), done: this.#claims.sum(now) },
      storeDownMs: this.#downSince === null ? null : now - this.#downSince,
    }
    this.#own.show(judgeNode(facts, limits).map(aboutAll))
    if (!answers) return
    const raised = await this.#shared.raised()
    const found = judgeDelay(await this.#oldest(), limits).map(aboutAll)
    if (this.#checks++ % JOBS_EVERY === 0) found.push(...(await this.#jobs(raised)))
    await this.#shared.show(found, raised)
  }

  #failed({ kind, during }: EngineEvents['error']): void {
    const now = this.#parts.engine.clock.now()
    this.#errors.add(now)
    if (kind === 'claim' || during === 'tick') this.#failedClaims.add(now)
  }

  #settled({ settled }: EngineEvents['settled']): void {
    const now = this.#parts.engine.clock.now()
    for (const { job, attempt } of settled) {
      if (attempt === null) continue
      this.#runs.add(now)
      const id = job.kind === 'job' ? job.id : job.seriesId
      if (id === null || this.#ran.size >= JOBS_MAX) continue
      this.#ran.set(id, { id, name: job.spec.name, tenant: job.spec.tenant })
    }
  }

  /** A store that does not answer in time is one that does not answer. */
  #answers(): Promise<boolean> {
    const { store, clock } = this.#parts.engine
    return new Promise(resolve => {
      const late = clock.after(ANSWER_MS, () => resolve(false))
      const settle = (isThere: boolean) => {
        late()
        resolve(isThere)
      }
      store.now().then(
        () => settle(true),
        () => settle(false),
      )
    })
  }

  /** How long the oldest due job that this node could serve waits. */
  async #oldest(): Promise<Millis | null> {
    const { store, clock, handlers } = this.#parts.engine
    const queues = [...new Set((await store.counts()).map(({ queue }) => queue))]
    const lines = queues.flatMap(queue => handlers.names.map(handler => ({ queue, handler })))
    const due = lines.length === 0 ? null : await store.nextDueAt(lines)
    return due === null ? null : clock.now() - due
  }

  async #jobs(raised: readonly StoredRecord[]): Promise<Judged[]> {
    const { limits, cleared } = this.#parts
    const subjects = new Map([...raised.flatMap(subjectOf), ...this.#ran])
    this.#ran.clear()
    const found: Judged[] = []
    for (const subject of subjects.values()) found.push(...(await this.#job(subject)))
    this.#samples.push(await cleared())
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
    return [...found, ...judgeStaleLocks(this.#samples, limits).map(aboutAll)]
  }

  async #job(subject: Subject): Promise<Judged[]> {
    const { engine, limits } = this.#parts
    const [job] = await engine.store.get([subject.id])
    const since = engine.clock.now() - HISTORY_MS
    // One that is gone or was ended by hand has nothing to be alarmed about any more.
    const isOver = !job || (isEnded(job) && job.state !== 'failed')
    const query = { limit: ATTEMPTS_MAX, since }
    const items = isOver ? [] : await recentAttempts(engine.store, job, query)
    const isRunOver = job !== undefined && isLastRunOver(job)
    return judgeJob(subject.name, items, limits, isRunOver).map(one => ({ ...one, subject }))
  }
}

function aboutAll(finding: Finding): Judged {
  return { ...finding, subject: null }
}

function subjectOf({ value }: StoredRecord): [string, Subject][] {
  const { subject } = value as { subject: Subject | null }
  return subject === null ? [] : [[subject.id, subject]]
}
