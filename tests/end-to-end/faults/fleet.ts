// The nodes: kept at their number, each a process of its own, with a loaded spare for the next one
// that has to be replaced.

import type { Random } from '../../simulation/random.ts'
import { Child } from '../children.ts'
import type { NodeOptions } from './node-child.ts'
import { POISON_EXIT } from './workload.ts'

export type Shape = Omit<NodeOptions, 'url' | 'nodeId' | 'skewMs'>

export interface FleetOptions {
  readonly size: number
  readonly shape: Shape
  /** Nodes take turns on the ways into the store. */
  readonly urlFor: (index: number) => string
  readonly skewMaxMs: number
  readonly random: Random
}

export interface Member {
  readonly child: Child
  readonly id: string
  isFrozen: boolean
  /** It was told to end, or killed. */
  isDismissed: boolean
}

const STOP_MS = 60_000

export class Fleet {
  readonly #options: FleetOptions
  readonly members: Member[] = []
  /** Nodes that ended although nobody ended them. */
  readonly deserters: string[] = []
  /** Nodes that were killed, by a signal or by what they ran. */
  readonly dead: string[] = []
  /** How many were killed by what they ran. */
  poisoned = 0
  #isOver = false
  #isQuiet = false
  #spare: Child | null = null
  #born = 0

  constructor(options: FleetOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const first = Array.from({ length: this.#options.size }, () => this.#recruit())
    for (const member of await Promise.all(first)) await this.#working(member)
    this.#warm()
  }

  #prepare(): Child {
    return new Child('faults/node-child.ts', [])
  }

  async #recruit(): Promise<Member> {
    const child = this.#spare ?? this.#prepare()
    this.#spare = null
    const { shape, urlFor, skewMaxMs, random } = this.#options
    const index = this.#born++
    const id = `node-${index}`
    const skewMs = skewMaxMs === 0 ? 0 : random.int(-skewMaxMs, skewMaxMs)
    const options: NodeOptions = { ...shape, url: urlFor(index), nodeId: id, skewMs }
    const member: Member = { child, id, isFrozen: false, isDismissed: false }
    this.members.push(member)
    await child.ready()
    child.say(`go ${JSON.stringify(options)}`)
    if (this.#isQuiet) child.say('quiet')
    void this.#watch(member)
    return member
  }

  async #watch(member: Member): Promise<void> {
    await member.child.gone()
    if (member.isDismissed) return
    this.#dismiss(member)
    if (member.child.exitCode === POISON_EXIT) {
      this.poisoned++
      this.dead.push(member.id)
      if (!this.#isOver) await this.#replace()
      return
    }
    this.deserters.push(`${member.id} ended by itself: ${member.child.errors}`)
  }

  #working({ child, id }: Member): Promise<void> {
    return expectLine(child, 'working', `${id} does not come up`)
  }

  #dismiss(member: Member): void {
    member.isDismissed = true
    const at = this.members.indexOf(member)
    if (at >= 0) this.members.splice(at, 1)
  }

  /** Loads the next node while nobody waits for it. */
  #warm(): void {
    this.#spare ??= this.#prepare()
  }

  async #replace(): Promise<void> {
    await this.#recruit()
    this.#warm()
  }

  /** SIGKILL, and a new node in its place. */
  async kill(member: Member): Promise<void> {
    this.#dismiss(member)
    this.dead.push(member.id)
    await member.child.kill()
    await this.#replace()
  }

  /** SIGSTOP until `thaw`. */
  freeze(member: Member): void {
    member.isFrozen = true
    member.child.signal('SIGSTOP')
  }

  thaw(member: Member): void {
    member.isFrozen = false
    member.child.signal('SIGCONT')
  }

  /** An orderly stop, and a new node in its place. */
  async relieve(member: Member, drainMs: number): Promise<void> {
    this.#dismiss(member)
    await stopped(member, drainMs)
    await this.#replace()
  }

  /**
   * Everybody stops creating; returns those whose loop does not work again in time. The successor
   * of a node that the poison job ends meanwhile is held to the same.
   */
  async quiet(withinMs: number): Promise<string[]> {
    this.#isQuiet = true
    for (const { child } of this.members) child.say('quiet')
    const found: string[] = []
    const checked = new Set<Member>()
    const unchecked = () => this.members.filter(member => !checked.has(member))
    for (let members = unchecked(); members.length > 0; members = unchecked()) {
      for (const member of members) checked.add(member)
      const answers = await Promise.all(members.map(member => calmed(member, withinMs)))
      for (const id of answers) {
        if (id !== null) found.push(`${id} does not work ${withinMs} ms after the last fault`)
      }
    }
    return found
  }

  /** Stops everybody in order; returns those that did not manage. */
  async stop(): Promise<string[]> {
    this.#isOver = true
    const failures: string[] = []
    const all = this.members.slice()
    for (const member of all) this.#dismiss(member)
    await Promise.all(
      all.map(member => stopped(member, 5_000).catch(error => failures.push(String(error)))),
    )
    return failures
  }

  /** Whatever is left, at once. */
  async end(): Promise<void> {
    this.#isOver = true
    const children = [
      ...this.members.map(({ child }) => child),
      ...(this.#spare ? [this.#spare] : []),
    ]
    for (const member of this.members.slice()) this.#dismiss(member)
    this.#spare = null
    for (const child of children) child.signal('SIGCONT')
    await Promise.all(children.map(child => child.kill()))
  }
}

/** Its id, if it runs and does not say in time that it works: `#watch` judges how a node ended. */
async function calmed({ child, id }: Member, withinMs: number): Promise<string | null> {
  const line = await child.line(text => text === 'calm', withinMs)
  return line === null && child.isRunning ? id : null
}

async function expectLine(child: Child, line: string, complaint: string): Promise<void> {
  const found = await child.line(text => text === line, STOP_MS)
  if (found === null) throw new Error(`${complaint}: ${child.errors}`)
}

async function stopped({ child, id }: Member, drainMs: number): Promise<void> {
  child.say(`stop ${drainMs}`)
  await expectLine(child, 'stopped', `${id} does not stop`)
  await child.kill()
}
