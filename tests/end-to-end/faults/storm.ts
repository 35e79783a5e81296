// What goes wrong: kills, freezes, poisonous handlers, server restarts, dropped connections, network
// faults, slow stores, locked files, clock steps and damaged records, each in a rhythm
// of its own, at random moments that a seed repeats.

import { setTimeout as pause } from 'node:timers/promises'
import type { FaultProxy, ProxyMode } from '../../support/servers/proxy.ts'
import type { Random } from '../../simulation/random.ts'
import type { Fleet } from './fleet.ts'
import { damage, damageKinds } from '../../support/damage.ts'
import type { Rig } from './rig.ts'
import { writeOffset } from './shared-clock.ts'
import { scapegoat } from './workload.ts'
import type { NewJob } from '../../../src/core/job.ts'

export const faultKinds = [
  'kills',
  'freezes',
  'restarts',
  'drops',
  'refusals',
  'resets',
  'blackholes',
  'slowdowns',
  'cutReplies',
  'slowStores',
  'stalls',
  'fileLocks',
  'clockSteps',
  'damages',
  'poisons',
] as const
export type FaultKind = (typeof faultKinds)[number]
export type FaultCounts = Record<FaultKind, number>

export interface Goal {
  readonly minMs: number
  /** At least so many of each that the store knows; the storm goes on until they are reached. */
  readonly atLeast: Partial<FaultCounts>
}

export interface StormOptions {
  readonly rig: Rig
  readonly fleet: Fleet
  readonly random: Random
  readonly leaseMs: number
  readonly goal: Goal
  readonly create: (job: NewJob) => Promise<unknown>
  /** The mean time between two of a kind; 0 for none. */
  readonly everyMs?: Partial<Record<FaultKind, number>>
}

/** One fault, for people who look into what happened. */
export interface FaultRecord {
  readonly kind: FaultKind
  readonly from: number
  readonly to: number
}

const rhythm: Readonly<Record<FaultKind, number>> = {
  kills: 2_000,
  freezes: 4_000,
  restarts: 7_000,
  drops: 5_000,
  refusals: 9_000,
  resets: 6_000,
  blackholes: 9_000,
  slowdowns: 9_000,
  cutReplies: 3_000,
  slowStores: 15_000,
  stalls: 12_000,
  fileLocks: 5_000,
  clockSteps: 12_000,
  damages: 4_000,
  /** The poison job acts by itself. */
  poisons: 0,
}

const PASS: ProxyMode = { kind: 'pass' }

export class Storm {
  readonly #options: StormOptions
  readonly counts: FaultCounts
  readonly log: FaultRecord[] = []
  /** When the clock was set back, by the machine's own. */
  readonly steps: number[] = []
  #offsetMs = 0
  #scapegoats = 0
  #victim: string | null = null
  readonly #beganAt = performance.now()

  constructor(options: StormOptions) {
    this.#options = options
    this.counts = Object.fromEntries(faultKinds.map(kind => [kind, 0])) as FaultCounts
  }

  /** Resolves when the goal is reached, nobody is frozen and every way is open again. */
  async run(): Promise<void> {
    const { random, everyMs } = this.#options
    const meanOf = (kind: FaultKind) => everyMs?.[kind] ?? rhythm[kind]
    const known = faultKinds.filter(kind => this.#isKnown(kind) && meanOf(kind) > 0)
    const streams = known.map(async kind => {
      const chance = random.fork(kind)
      const mean = meanOf(kind)
      while (!this.#isOver()) {
        await this.#pause(chance.int(mean / 2, mean * 1.5))
        if (this.#isOver()) break
        const from = Date.now()
        if (!(await this.#acts[kind](chance))) continue
        this.counts[kind]++
        this.log.push({ kind, from, to: Date.now() })
      }
    })
    await Promise.all(streams)
    this.counts.poisons = this.#options.fleet.poisoned
  }

  #isKnown(kind: FaultKind): boolean {
    const { rig } = this.#options
    if (['kills', 'freezes', 'poisons', 'damages'].includes(kind)) return true
    if (kind === 'fileLocks') return rig.lock !== null
    if (kind === 'clockSteps') return rig.clockFile !== null
    if (kind === 'restarts') return rig.restart !== null
    if (kind === 'drops') return rig.drop !== null
    return rig.proxies.length > 0
  }

  #isOver(): boolean {
    const { minMs, atLeast } = this.#options.goal
    this.counts.poisons = this.#options.fleet.poisoned
    if (performance.now() - this.#beganAt < minMs) return false
    return faultKinds.every(
      kind => !this.#isKnown(kind) || this.counts[kind] >= (atLeast[kind] ?? 0),
    )
  }

  /** In small steps, so that the end of the storm is not missed. */
  async #pause(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (!this.#isOver() && performance.now() < until) {
      await pause(Math.min(100, Math.max(1, until - performance.now())))
    }
  }

  /** Each says whether anything was done. */
  readonly #acts: Readonly<Record<FaultKind, (chance: Random) => Promise<boolean>>> = {
    kills: async chance => {
      const { fleet } = this.#options
      if (fleet.members.length === 0) return false
      await fleet.kill(chance.pick(fleet.members))
      return true
    },
    freezes: chance => this.#freeze(chance),
    restarts: async () => {
      await this.#options.rig.restart!()
      return true
    },
    drops: async () => {
      // The server may just be restarting.
      const dropped = await this.#options.rig.drop!().catch(() => 0)
      return dropped > 0
    },
    refusals: chance => this.#hold(chance, { kind: 'refuse' }),
    resets: chance => Promise.resolve(this.#proxy(chance).reset() > 0),
    blackholes: chance => this.#hold(chance, { kind: 'blackhole' }),
    slowdowns: chance => this.#hold(chance, { kind: 'slow', delayMs: chance.int(5, 60) }),
    cutReplies: async chance => {
      const proxy = this.#proxy(chance)
      const before = proxy.counts.cuts
      proxy.cutReplies(chance.int(1, 3))
      await this.#pause(500)
      return proxy.counts.cuts > before
    },
    slowStores: chance => {
      const { leaseMs } = this.#options
      const delayMs = chance.int(leaseMs * 0.4, leaseMs * 0.8)
      return this.#holdAll({ kind: 'slow', delayMs }, chance.int(leaseMs * 3, leaseMs * 6))
    },
    stalls: chance => {
      const { leaseMs } = this.#options
      return this.#holdAll({ kind: 'blackhole' }, chance.int(leaseMs * 1.2, leaseMs * 3))
    },
    fileLocks: async chance => {
      const { rig, leaseMs } = this.#options
      return rig.lock!(chance.int(leaseMs * 0.5, leaseMs * 3)).then(
        () => true,
        () => false,
      )
    },
    clockSteps: async chance => {
      this.#offsetMs -= chance.int(2 * 60_000, 30 * 60_000)
      writeOffset(this.#options.rig.clockFile!, this.#offsetMs)
      this.steps.push(Date.now())
      return true
    },
    damages: async chance => {
      const victim = this.#victim
      this.#victim = null
      try {
        // One call creates, the next one damages: it ran for a while by then.
        if (victim === null) this.#victim = await this.#nextScapegoat()
        else await damage(this.#options.rig.url, victim, chance.pick(damageKinds))
        return victim !== null
      } catch {
        // The store is away just now.
        return false
      }
    },
    poisons: () => Promise.resolve(false),
  }

  async #nextScapegoat(): Promise<string> {
    const job = scapegoat(++this.#scapegoats)
    await this.#options.create(job)
    return job.id
  }

  #proxy(chance: Random): FaultProxy {
    return chance.pick(this.#options.rig.proxies)
  }

  async #freeze(chance: Random): Promise<boolean> {
    const { fleet, leaseMs } = this.#options
    const awake = fleet.members.filter(member => !member.isFrozen)
    // Somebody has to be there to take over.
    if (awake.length < 2) return false
    const member = chance.pick(awake)
    fleet.freeze(member)
    await pause(chance.int(leaseMs * 1.2, leaseMs * 3))
    fleet.thaw(member)
    return !member.isDismissed
  }

  /** The store itself is slow or silent: for everybody. */
  async #holdAll(mode: ProxyMode, ms: number): Promise<boolean> {
    const { proxies } = this.#options.rig
    while (proxies.some(proxy => proxy.mode.kind !== 'pass')) {
      if (this.#isOver()) return false
      await pause(20)
    }
    for (const proxy of proxies) await proxy.set(mode)
    await pause(ms)
    for (const proxy of proxies) await proxy.set(PASS)
    return true
  }

  async #hold(chance: Random, mode: ProxyMode): Promise<boolean> {
    const proxy = this.#proxy(chance)
    // Another fault is on: one at a time for each way.
    if (proxy.mode.kind !== 'pass') return false
    await proxy.set(mode)
    const { leaseMs } = this.#options
    await pause(chance.int(leaseMs * 0.3, leaseMs * 2))
    await proxy.set(PASS)
    return true
  }
}
