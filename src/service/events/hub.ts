// Every reader of the stream hangs on one hub: it listens to this node, looks at the store for the
// others, and rests when nobody reads.

import type { Job } from '../../core/job.ts'
import type { JsonObject } from '../../core/json.ts'
import { MINUTE, SECOND, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import { Repeat } from '../../runtime/repeat.ts'
import { EVERY_TENANT } from '../auth/principal.ts'
import type { Connection } from './connection.ts'
import * as facts from './facts.ts'
import { Feed } from './feed.ts'
import { frame, idOf, Ring, type Place } from './ring.ts'

const LOOK_MS: Millis = SECOND
const PING_MS: Millis = 15 * SECOND
/** How long it stays awake for readers that come back. */
const LINGER_MS: Millis = MINUTE
/** Scopes whose counts are looked at in one round; more take turns. */
const SCOPES_MAX = 20

/** Says whether the reader may still read. */
export type StillAllowed = () => Promise<boolean>

export class Hub {
  readonly #engine: Engine
  readonly #connections = new Map<Connection, StillAllowed>()
  readonly #looks: Repeat
  readonly #pings: Repeat
  #ring: Ring
  #feed: Feed
  #stops: (() => void)[] = []
  #counts = new Map<string, string>()
  #scopesTurn = 0
  #cancelRest: (() => void) | null = null

  constructor(engine: Engine) {
    this.#engine = engine
    this.#ring = this.#newRing()
    this.#feed = new Feed(engine)
    const { clock } = engine
    this.#looks = new Repeat(
      clock,
      () => LOOK_MS,
      () => this.#look(),
    )
    this.#pings = new Repeat(
      clock,
      () => PING_MS,
      () => this.#ping(),
    )
  }

  #newRing(): Ring {
    return new Ring(this.#engine.ids.token().replaceAll('-', '').slice(0, 8))
  }

  get size(): number {
    return this.#connections.size
  }

  /** Of a tenant, or of one of its callers. */
  sizeOf(tenant: string, sub?: string): number {
    return [...this.#connections.keys()].filter(
      ({ principal }) =>
        principal.tenant === tenant && (sub === undefined || principal.sub === sub),
    ).length
  }

  /**
   * Events from now on, after those that came since `place`. False when some of them are no longer
   * at hand. Awake, it happens in one go, so nothing slips in between.
   */
  async join(
    connection: Connection,
    isAllowed: StillAllowed,
    place: Place | null,
  ): Promise<boolean> {
    this.#cancelRest?.()
    this.#cancelRest = null
    const missed = place === null ? [] : this.#isAwake ? this.#ring.after(place) : null
    for (const told of missed ?? []) if (connection.accepts(told)) connection.send(told.text)
    this.#connections.set(connection, isAllowed)
    connection.stream.once('close', () => this.#leave(connection))
    if (!this.#isAwake) await this.#wake()
    return missed !== null
  }

  /** Where a reader stands that has read everything. */
  head(): Place {
    return this.#ring.head(this.#engine.clock.now())
  }

  #leave(connection: Connection): void {
    this.#connections.delete(connection)
    if (this.#connections.size > 0 || this.#cancelRest !== null) return
    this.#cancelRest = this.#engine.clock.after(LINGER_MS, () => this.#rest())
  }

  get #isAwake(): boolean {
    return this.#stops.length > 0
  }

  async #wake(): Promise<void> {
    this.#ring = this.#newRing()
    this.#feed = new Feed(this.#engine)
    this.#counts = new Map()
    this.#stops = this.#listen()
    // Where things stand is learnt before the first reader is told anything.
    await this.#looks.now()
    this.#looks.start()
    this.#pings.start()
  }

  #rest(): void {
    this.#cancelRest = null
    for (const stop of this.#stops) stop()
    this.#stops = []
    void this.#looks.stop()
    void this.#pings.stop()
  }

  #listen(): (() => void)[] {
    const { events } = this.#engine
    return [
      events.on('started', ({ jobs }) => {
        for (const job of jobs) this.#started(job)
      }),
      events.on('settled', ({ settled }) => {
        for (const { job, attempt, skips } of settled) {
          for (const skip of skips) this.#tell(facts.skipFact(job, skip))
          if (attempt && this.#feed.tellEnd(attempt.id)) {
            for (const fact of facts.settledFacts(job, attempt)) this.#tell(fact)
          } else if (!attempt && job.ended) this.#tell(facts.endedFact(job))
        }
      }),
      events.on('changed', ({ verb, jobs }) => {
        for (const job of jobs) this.#tell(facts.changedFact(job, verb))
      }),
      events.on('seriesFolded', ({ jobs }) => {
        for (const job of jobs) this.#tell(facts.changedFact(job, 'count'))
      }),
      events.on('removed', ({ ids }) => {
        for (const id of ids) this.#tell(facts.removedFact(id))
      }),
      events.on('progressed', ({ job, fraction, note }) => {
        if (!this.#isWanted('progress')) return
        this.#started(job)
        this.#tell(facts.progressFact(job, fraction, note))
      }),
      events.on('logged', ({ job, line }) => {
        if (!this.#isWanted('log')) return
        this.#started(job)
        this.#tell(facts.logFact(job, line))
      }),
    ]
  }

  /** Starts are told in batches, so a first line may come before its own. */
  #started(job: Job): void {
    if (job.lease === null || !this.#feed.tellStart(job.lease.attemptId)) return
    this.#tell(facts.startedFact(job))
  }

  #isWanted(topic: facts.Topic): boolean {
    return [...this.#connections.keys()].some(connection => connection.wants(topic))
  }

  #tell(fact: facts.Fact): void {
    const told = this.#ring.add(fact, this.#engine.clock.now())
    for (const connection of this.#connections.keys()) {
      if (connection.accepts(told)) connection.send(told.text)
    }
  }

  /** A store that cannot be read is looked at again; readers hear nothing until then. */
  async #look(): Promise<boolean> {
    const { facts: found, isCut } = await this.#feed.look()
    for (const fact of found) this.#tell(fact)
    if (isCut) this.#toAll(frame(idOf(this.head()), 'resync', { reason: 'busy' }))
    await this.#lookAtCounts()
    return true
  }

  async #lookAtCounts(): Promise<void> {
    const readers = [...this.#connections.keys()].filter(one => one.wants('counts'))
    const scopes = [...new Set(readers.map(({ principal }) => principal.tenant))]
    const first = scopes.length > SCOPES_MAX ? this.#scopesTurn % scopes.length : 0
    this.#scopesTurn = first + SCOPES_MAX
    for (const tenant of [...scopes.slice(first), ...scopes].slice(0, SCOPES_MAX)) {
      const counts = await this.#countsOf(tenant)
      const text = JSON.stringify(counts)
      const before = this.#counts.get(tenant)
      this.#counts.set(tenant, text)
      if (before !== text) this.#tell(facts.countsFact(tenant, counts))
    }
  }

  async #countsOf(tenant: string): Promise<JsonObject> {
    const rows = await this.#engine.store.counts(tenant === EVERY_TENANT ? {} : { tenant })
    const counts: Record<string, number> = {
      waiting: 0,
      running: 0,
      paused: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
    }
    for (const { kind, state, count } of rows) {
      if (kind === 'job') counts[state] = (counts[state] ?? 0) + count
    }
    return counts
  }

  /** Comments keep connections from looking dead, and tokens are asked about again. */
  async #ping(): Promise<boolean> {
    for (const [connection, isAllowed] of this.#connections) {
      if (await isAllowed()) connection.ping()
      else connection.end('unauthorized')
    }
    return true
  }

  #toAll(text: string): void {
    for (const connection of this.#connections.keys()) connection.send(text)
  }

  close(): void {
    for (const connection of this.#connections.keys()) connection.end('shutdown')
    this.#cancelRest?.()
    this.#rest()
  }
}
