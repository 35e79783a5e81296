// A small world for scenarios: one virtual clock, one store, any number of nodes, a client, and a
// witness of every handler call that does not depend on what the store says.

import { onTestFinished } from 'vitest'
import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import type { LedgerEntry } from '../../src/core/history/ledger.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant, Millis } from '../../src/core/time.ts'
import { Client } from '../../src/jobs/client.ts'
import { CorrectedClock, type Clock } from '../../src/runtime/clock.ts'
import { Events } from '../../src/runtime/events.ts'
import { Handlers, type Handler } from '../../src/engine/handlers.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import { Node, type StopResult } from '../../src/engine/node.ts'
import { makeParts } from '../../src/create-engine.ts'
import { engineSettings, type EngineSettings } from '../../src/runtime/settings.ts'
import { Wake } from '../../src/runtime/wake.ts'
import type { Store } from '../../src/store/port.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { readAll } from './builders.ts'
import { openMemory, type OpenStore } from './stores.ts'
import { moment, recorder, span, tracked, witness, WorldClock } from './world-parts.ts'
import type { Heard, Witness } from './world-parts.ts'

export { moment, span } from './world-parts.ts'

export interface WorldNode {
  readonly name: string
  readonly node: Node
  readonly events: Events
  /** Every event of the kind so far. */
  readonly heard: Heard
}

export interface WorldOptions {
  readonly at: string | Instant
  readonly settings?: Partial<EngineSettings>
  /** How the store is opened; memory unless told. */
  readonly open?: OpenStore
  /** Puts something between the nodes and the store. */
  readonly wrap?: (store: Store) => Store
  /** What the nodes and the store take for the time; the virtual clock unless told. */
  readonly wall?: (clock: VirtualClock) => Clock
}

export type MakeWorld = (options: WorldOptions) => Promise<World>
export type HandlerTable = Handler | Readonly<Record<string, Handler>>

/** Everything a scenario can touch. Made by `makeWorld`, taken down when its test ends. */
export class World {
  readonly clock: VirtualClock
  readonly wall: Clock
  readonly store: Store
  readonly client: Client
  readonly events = new Events()
  readonly runs: Witness[] = []
  readonly nodes: WorldNode[] = []
  readonly #second: () => Promise<Store>
  readonly #settings: Partial<EngineSettings>

  constructor(
    clock: VirtualClock,
    wall: Clock,
    stores: { first: Store; second: () => Promise<Store> },
    settings: Partial<EngineSettings>,
  ) {
    this.clock = clock
    this.wall = wall
    this.store = stores.first
    this.#second = stores.second
    this.#settings = settings
    this.client = new Client({
      store: this.store,
      clock: wall,
      ids: new SystemIds(),
      events: this.events,
      waitingMax: settings.waitingMax ?? null,
      node: {
        claimOnInsert: jobs => this.nodes[0]?.node.claimOnInsert(jobs) ?? null,
        onChanged: queues => this.nodes.forEach(({ node }) => node.onChanged(queues)),
        onCreated: jobs => this.nodes.forEach(({ node }) => node.onCreated(jobs)),
        checkCancellations: () => this.nodes.forEach(({ node }) => node.checkCancellations()),
      },
    })
  }

  get now(): Instant {
    return this.wall.now()
  }

  /** Another handle onto the same data, as another process would have. */
  handle(): Promise<Store> {
    return this.#second()
  }

  /** A started node; `work` is the handler when only one is given. */
  async node(
    name: string,
    handlers: HandlerTable,
    settings: Partial<EngineSettings> = {},
  ): Promise<WorldNode> {
    const made = await this.idleNode(name, handlers, settings)
    await this.until(made.node.start())
    return made
  }

  /** A node that is not started yet. */
  async idleNode(
    name: string,
    handlers: HandlerTable,
    settings: Partial<EngineSettings> = {},
  ): Promise<WorldNode> {
    const store = this.nodes.length === 0 ? this.store : await this.#second()
    const events = new Events()
    const clock = new CorrectedClock(this.wall)
    const table = new Handlers()
    const given = typeof handlers === 'function' ? { work: handlers } : handlers
    for (const [handler, call] of Object.entries(given)) {
      table.set(handler, context => {
        this.runs.push(witness(name, context, this.wall.now()))
        return call(context)
      })
    }
    const node = new Node(
      makeParts({
        store,
        clock,
        events,
        handlers: table,
        ids: new SystemIds(),
        settings: engineSettings({ ...this.#settings, ...settings, nodeId: name }),
        wake: new Wake(clock),
      }),
    )
    const made = { name, node, events, heard: recorder(events) }
    this.nodes.push(made)
    return made
  }

  /** Waits for something that needs virtual time to pass, a little at a time. */
  async until<T>(work: Promise<T>, stepMs: Millis = 100, stepsMax = 10_000): Promise<T> {
    let isOver = false
    const over = work.finally(() => (isOver = true))
    over.catch(() => {})
    await this.clock.settle()
    for (let step = 0; !isOver && step < stepsMax; step++) await this.clock.advance(stepMs)
    if (!isOver) throw new Error(`not over after ${stepMs * stepsMax} ms of virtual time`)
    return over
  }

  async advance(by: string | Millis): Promise<void> {
    await this.clock.advance(span(by))
  }

  /** By the virtual clock, which is the wall's unless a scenario put another there. */
  async advanceTo(to: string | Instant): Promise<void> {
    await this.clock.advanceTo(moment(to))
    await this.clock.settle()
  }

  settle(): Promise<void> {
    return this.clock.settle()
  }

  stop(made: WorldNode, drainMs?: Millis): Promise<StopResult> {
    return this.until(made.node.stop(drainMs))
  }

  /** As if its process had been killed. */
  async crash(made: WorldNode): Promise<void> {
    made.node.crash()
    this.nodes.splice(this.nodes.indexOf(made), 1)
    await this.clock.settle()
  }

  async create(id: string, spec: JobSpec): Promise<Job> {
    const [made] = await this.client.create([{ id, spec }])
    await this.clock.settle()
    return made!.job
  }

  job(id: string): Promise<Job> {
    return this.client.get(id)
  }

  /** Oldest first. */
  attempts(jobId: string): Promise<Attempt[]> {
    return readAll(page => this.store.attempts({ jobId }, { ...page, newestFirst: false }))
  }

  ledger(jobId: string): Promise<LedgerEntry[]> {
    return readAll(page => this.store.ledger(jobId, page))
  }

  /** The moments at which the handler was called, as text. */
  times(job: string): string[] {
    return this.runs.filter(run => run.job === job).map(run => new Date(run.at).toISOString())
  }

  /** Crashes what still runs, so nothing of one test reaches into the next. */
  async end(): Promise<void> {
    for (const made of this.nodes.slice()) await this.crash(made)
  }
}

export async function makeWorld(options: WorldOptions): Promise<World> {
  const clock = new WorldClock(moment(options.at))
  const wall = options.wall?.(clock) ?? clock
  const opened = await (options.open ?? openMemory)(() => wall.now())
  const wrap = (store: Store) => tracked(options.wrap?.(store) ?? store, clock)
  const world = new World(
    clock,
    wall,
    { first: wrap(opened.store), second: async () => wrap(await opened.second()) },
    // Outcomes are written at once: a scenario looks at them without letting time pass.
    { ...options.settings },
  )
  onTestFinished(async () => {
    await world.end()
    await opened.close()
  })
  return world
}
