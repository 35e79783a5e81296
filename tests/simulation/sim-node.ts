// One node through all its lives: started, frozen, killed, stopped in order, and started again.

import type { Instant, Millis } from '../../src/core/time.ts'
import { CorrectedClock, type Measured } from '../../src/runtime/clock.ts'
import { Client } from '../../src/jobs/client.ts'
import { Events } from '../../src/runtime/events.ts'
import { Handlers } from '../../src/engine/handlers.ts'
import { Node } from '../../src/engine/node.ts'
import { makeParts } from '../../src/create-engine.ts'
import type { Parts } from '../../src/engine/parts.ts'
import { engineSettings } from '../../src/runtime/settings.ts'
import { Wake } from '../../src/runtime/wake.ts'
import type { Store } from '../../src/store/port.ts'
import { makeHandler } from './behaviours.ts'
import type { Life } from './history.ts'
import type { NodePlan, Plan } from './plan.ts'
import { ABORT_GRACE_MS, CHECK_MS, LOOK_MS, REAP_MS } from './plan.ts'
import { CountedIds } from './random.ts'
import type { Recorder } from './recorder.ts'
import { NodeClock, type WorldClock } from './sim-clock.ts'
import { SimStore, type CallLog } from './sim-store.ts'
import type { Weather } from './weather.ts'

export interface Surroundings {
  readonly plan: Plan
  readonly world: WorldClock
  readonly inner: Store
  readonly weather: Weather
  readonly recorder: Recorder
  readonly calls: CallLog
  readonly trustsOwnClock: boolean
}

/** Asks the store for its time and believes its own. */
class OwnClock extends CorrectedClock {
  override async measure(storeNow: () => Promise<Instant>): Promise<Measured> {
    await storeNow()
    return { backMs: 0, elapsedMs: 0 }
  }
}

interface Living {
  readonly clock: NodeClock
  readonly node: Node
  readonly parts: Parts
  readonly life: Life
  isStopping: boolean
}

const RETRY_START_MS = 400

export class SimNode {
  readonly id: string
  readonly #around: Surroundings
  readonly #offsetMs: Millis
  #living: Living | null = null
  #lives = 0

  constructor(around: Surroundings, { id, offsetMs }: NodePlan) {
    this.#around = around
    this.id = id
    this.#offsetMs = offsetMs
  }

  get isUp(): boolean {
    const living = this.#living
    return living !== null && living.clock.isLive && living.node.state === 'running'
  }

  start(): void {
    if (this.#living !== null) return
    const { world, recorder } = this.#around
    const life: Life = {
      node: this.id,
      life: ++this.#lives,
      startedAt: world.now(),
      endedAt: null,
      how: null,
    }
    recorder.lives.push(life)
    recorder.line(`${this.id} starts`)
    const clock = new NodeClock(world, this.#offsetMs)
    this.#begin(life, clock)
  }

  /** A node that cannot reach its store at the start is started again by whoever watches it. */
  #begin(life: Life, clock: NodeClock): void {
    const parts = this.#parts(life, clock)
    const node = new Node(parts)
    const living: Living = { clock, node, parts, life, isStopping: false }
    this.#living = living
    node.start().catch(() => {
      clock.after(RETRY_START_MS, () => {
        if (this.#living === living && !living.isStopping) this.#begin(life, clock)
      })
    })
  }

  #store(clock: NodeClock, verb: string | null): SimStore {
    const { inner, world, weather, recorder, calls } = this.#around
    return new SimStore({ inner, world, clock, weather, recorder, calls, node: this.id, verb })
  }

  #parts(life: Life, base: NodeClock): Parts {
    const { plan, world, recorder } = this.#around
    const clock = this.#around.trustsOwnClock ? new OwnClock(base) : new CorrectedClock(base)
    const handlers = new Handlers()
    const handler = makeHandler({
      seed: plan.seed,
      node: this.id,
      life: life.life,
      clock,
      worldNow: () => world.now(),
      recorder,
      leaseMs: plan.leaseMs,
      isQuiet: () => world.now() >= plan.quietAt,
      killNode: () => {
        recorder.faults.push({
          kind: 'kill',
          node: this.id,
          from: world.now(),
          to: world.now() + 500,
        })
        this.kill(500)
      },
    })
    handlers.set('work', handler)
    handlers.set('other', handler)
    return makeParts({
      store: this.#store(base, null),
      clock,
      ids: new CountedIds(`${this.id}.${life.life}`),
      handlers,
      settings: engineSettings({
        nodeId: this.id,
        slots: plan.slots,
        leaseMs: plan.leaseMs,
        reapMs: REAP_MS,
        cancelCheckMs: LOOK_MS,
        checkIntervalMs: CHECK_MS,
        abortGraceMs: ABORT_GRACE_MS,
        pruneMs: 7_000,
        metricsMs: 30_000,
      }),
      events: new Events(),
      wake: new Wake(clock),
    })
  }

  /** For a person at this node; null while it is not there. */
  client(verb: string): { client: Client; clock: NodeClock; now: () => number } | null {
    const living = this.#living
    if (!this.isUp || living === null || living.isStopping) return null
    const { clock, node, parts } = living
    const client = new Client({
      store: this.#store(clock, verb),
      clock: parts.clock,
      ids: parts.ids,
      events: parts.events,
      waitingMax: null,
      node,
    })
    return { client, clock, now: () => parts.clock.now() }
  }

  freeze(forMs: Millis): boolean {
    const living = this.#living
    if (!living || !living.clock.isLive) return false
    this.#around.recorder.line(`${this.id} freezes`)
    living.clock.freeze()
    this.#around.world.after(forMs, () => {
      this.#around.recorder.line(`${this.id} thaws`)
      living.clock.thaw()
    })
    return true
  }

  /** Gone between two steps, as by kill -9. */
  kill(forMs: Millis): boolean {
    const living = this.#living
    if (!living) return false
    living.clock.kill()
    this.#ended(living, 'killed', forMs)
    return true
  }

  /** The engine's own way to play dead: handlers go on, but nothing of theirs may be written. */
  crash(forMs: Millis): boolean {
    const living = this.#living
    if (!living || !living.clock.isLive) return false
    living.node.crash()
    this.#ended(living, 'killed', forMs)
    return true
  }

  stop(forMs: Millis, drainMs: Millis): boolean {
    const living = this.#living
    if (!living || !this.isUp || living.isStopping) return false
    living.isStopping = true
    this.#around.recorder.line(`${this.id} stops`)
    if (living.node.running > 0) this.#around.recorder.label('shutdown with a running job')
    void this.#stopped(living, forMs, drainMs)
    return true
  }

  async #stopped(living: Living, forMs: Millis, drainMs: Millis): Promise<void> {
    await living.node.stop(drainMs).catch(() => this.kill(forMs))
    if (this.#living === living) this.#ended(living, 'stopped', forMs)
  }

  #ended(living: Living, how: 'stopped' | 'killed', forMs: Millis): void {
    const { world, recorder, plan } = this.#around
    recorder.line(`${this.id} is ${how}`)
    living.life.endedAt = world.now()
    living.life.how = how
    this.#living = null
    const back = Math.min(world.now() + forMs, Math.max(world.now(), plan.quietAt))
    world.after(back - world.now(), () => this.start())
  }
}
