// The fair queue for a scenario: an engine on one store under virtual time, with handlers that note
// whose turn it was.

import { onTestFinished } from 'vitest'
import type { Instant, Millis } from '../../src/core/time.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import type { ActiveAttempt } from '../../src/engine/active-attempt.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import { RemoteWorkers } from '../../src/remote/workers.ts'
import { RemoteClaims, type RemoteClaimRequest } from '../../src/remote/claims.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'
import { FairApi } from '../../src/fair/api.ts'
import { serveSchedules } from '../../src/fair/tasks.ts'
import type { Store } from '../../src/store/port.ts'
import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'
import { openSqlite } from './sqlite.ts'
import { openMemory, type OpenStore } from './stores.ts'
import { moment, span, tracked, WorldClock } from './world-parts.ts'

/** For `test.each`: one story, told on each store. */
export const fairStores: readonly (readonly [name: string, open: OpenStore])[] = [
  ['memory', openMemory],
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
  ['redis', openRedis],
]

export interface FairOptions {
  readonly at?: string
  readonly settings?: Partial<EngineSettings>
  readonly wrap?: (store: Store) => Store
  /** What does tasks; noted and done at once unless told. */
  readonly task?: Handler
}

const calm = {
  nodeId: 'node-1',
  checkIntervalMs: 3_600_000,
  reapMs: 600_000,
  cancelCheckMs: 60_000,
  metricsMs: 3_600_000,
  pruneMs: 3_600_000,
  idleReapMs: 3_600_000,
}

export class FairWorld {
  readonly engine: Engine
  readonly fair: FairApi
  readonly claims: RemoteClaims
  readonly remote: RemoteWorkers
  readonly clock: WorldClock
  readonly store: Store
  /** Lanes in the order their tasks were started by the node. */
  readonly started: string[] = []
  readonly errors: string[] = []

  constructor(engine: Engine, clock: WorldClock, task: Handler | undefined) {
    this.engine = engine
    this.clock = clock
    this.store = engine.store
    this.fair = new FairApi(engine, () => {})
    this.claims = new RemoteClaims(engine, engine.node)
    this.remote = new RemoteWorkers(engine)
    serveSchedules(engine)
    engine.events.on('error', ({ kind }) => this.errors.push(kind))
    if (task) {
      engine.handlers.set('task', context => {
        this.started.push(context.job.spec.lane.split('/')[1]!)
        return task(context)
      })
    }
  }

  get now(): Instant {
    return this.clock.now()
  }

  async start(): Promise<void> {
    await this.until(this.engine.node.start())
  }

  async advance(by: string | Millis): Promise<void> {
    await this.clock.advance(span(by))
    await this.clock.settle()
  }

  async until<T>(work: Promise<T>, stepMs: Millis = 100): Promise<T> {
    let isOver = false
    const over = work.finally(() => (isOver = true))
    over.catch(() => {})
    for (let step = 0; !isOver && step < 10_000; step++) {
      await this.clock.settle()
      if (!isOver) await this.clock.advance(stepMs)
    }
    return over
  }

  /** What a worker elsewhere is given at once. */
  claim(more: Partial<RemoteClaimRequest> = {}): Promise<readonly ActiveAttempt[]> {
    return this.claims.claim(this.ask(more), { ms: 0, signal: new AbortController().signal })
  }

  wait(ms: Millis, more: Partial<RemoteClaimRequest> = {}): Promise<readonly ActiveAttempt[]> {
    return this.claims.claim(this.ask(more), { ms, signal: new AbortController().signal })
  }

  ask(more: Partial<RemoteClaimRequest> = {}): RemoteClaimRequest {
    const usual = { worker: 'w1', tenant: 'default', queues: ['default'], handlers: ['task'] }
    return { ...usual, users: [], steal: [], limit: 1, leaseMs: 60_000, ...more }
  }

  /** Whose tasks a worker is given, one claim after another. */
  async turns(count: number, more: Partial<RemoteClaimRequest> = {}): Promise<string> {
    let users = ''
    for (let i = 0; i < count; i++) {
      for (const { job } of await this.claim(more)) users += job.spec.lane.split('/')[1]!
    }
    return users
  }
}

export async function fairWorld(open: OpenStore, options: FairOptions = {}): Promise<FairWorld> {
  const clock = new WorldClock(moment(options.at ?? '2024-01-01T10:00:00Z'))
  const opened = await open(() => clock.now())
  const store = tracked(options.wrap?.(opened.store) ?? opened.store, clock)
  const settings = { ...calm, ...options.settings }
  const engine = createEngine({ store, clock, ids: new SystemIds(), settings })
  const world = new FairWorld(engine, clock, options.task)
  onTestFinished(async () => {
    world.claims.stop()
    engine.node.crash()
    await clock.settle()
    await opened.close()
  })
  return world
}
