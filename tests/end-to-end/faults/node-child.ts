// One node of the fault tests: a real engine on a real store. It is loaded first and told what to
// be later, so that a killed node has a successor at once.
// Input: `go <options>`, `quiet`, `stop <drain in ms>`. Output: `ready`, `working`, `calm`, `stopped`.

import { createInterface } from 'node:readline'
import type { Context } from '../../../src/engine/context.ts'
import { after, openEngine, type Engine } from '../engine.ts'
import { WitnessLog } from './witness.ts'
import { recordEvents } from './witness-events.ts'
import { handlersOf, task } from './workload.ts'

export interface NodeOptions {
  readonly url: string
  readonly nodeId: string
  readonly leaseMs: number
  /** How far this node's clock is from the true time. */
  readonly skewMs: number
  readonly witness: string
  /** The clock of the machine, where it can be set back; null for the real one. */
  readonly clockFile: string | null
  /** The mean time between two tasks it creates; 0 for none. */
  readonly taskEveryMs: number
  readonly tickMs: number
  readonly slots: number
}

const RETRY_MS = 100
/** Rounds of the loop that show that a node is well again. */
const CALM_TICKS = 2

const say = (text: string) => process.stdout.write(`${text}\n`)

class ChaosNode {
  readonly #options: NodeOptions
  readonly #log: WitnessLog
  #isQuiet = false
  #tasks: Promise<void> = Promise.resolve()
  /** Resolves when it works; an unreachable store may put that off. */
  readonly #started: Promise<Engine>

  constructor(options: NodeOptions) {
    this.#options = options
    this.#log = new WitnessLog(options.witness, options.nodeId)
    this.#started = this.#start()
  }

  /** As a supervisor would: a store that cannot be reached yet is tried again. */
  async #patiently<T>(during: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        this.#log.note({ kind: 'error', during, message: String(error) })
        await after(RETRY_MS)
      }
    }
  }

  async #start(): Promise<Engine> {
    const { url, nodeId, leaseMs, skewMs, clockFile, tickMs, slots } = this.#options
    const handlers = Object.entries(handlersOf(leaseMs)).map(
      ([name, call]) => [name, (context: Context) => this.#witnessed(context, call)] as const,
    )
    const settings = {
      leaseMs,
      slots,
      checkIntervalMs: tickMs,
      reapMs: tickMs,
      cancelCheckMs: tickMs / 2,
    }
    const options = {
      url,
      nodeId,
      skewMs,
      clockFile,
      settings,
      handlers: Object.fromEntries(handlers),
    }
    const engine = await this.#patiently('open', () => openEngine(options))
    recordEvents(engine.events, this.#log)
    await this.#patiently('start', () => engine.node.start())
    say('working')
    if (this.#options.taskEveryMs > 0) this.#tasks = this.#createTasks(engine)
    return engine
  }

  async #witnessed(context: Context, call: (context: Context) => Promise<void>): Promise<string> {
    const { job, run, fence, attemptId: id } = context
    const fact = { job: job.id, run, fence, id }
    this.#log.note({ kind: 'start', occurrence: context.scheduledFor.getTime(), ...fact })
    try {
      await call(context)
      this.#log.note({ kind: 'finish', isOk: true, ...fact })
      return id
    } catch (error) {
      this.#log.note({ kind: 'finish', isOk: false, ...fact })
      throw error
    }
  }

  async #createTasks({ client, clock }: Engine): Promise<void> {
    const { nodeId, taskEveryMs } = this.#options
    for (let n = 0; !this.#isQuiet; n++) {
      const dueAt = clock.now() + ((n * 131) % 1_500)
      const job = `task-${nodeId}-${n}`
      this.#log.note({ kind: 'asked', job, dueAt })
      try {
        await client.create([{ id: job, spec: task(dueAt) }])
        this.#log.note({ kind: 'created', job })
      } catch (error) {
        this.#log.note({ kind: 'error', during: 'create', message: String(error) })
      }
      await after(((n * 7) % 5) * 0.5 * taskEveryMs)
    }
  }

  /** Creates nothing more, and says when its loop is seen to work again. */
  async quiet(): Promise<void> {
    this.#isQuiet = true
    const { events, node } = await this.#started
    await this.#tasks
    let ticks = 0
    await new Promise<void>(resolve => {
      events.on('ticked', () => {
        if (node.state === 'running' && ++ticks === CALM_TICKS) resolve()
      })
      node.onChanged()
    })
    say('calm')
  }

  async stop(drainMs: number): Promise<void> {
    this.#isQuiet = true
    const engine = await this.#started
    await this.#tasks
    await engine.node.stop(drainMs)
    await engine.store.close()
    this.#log.close()
    say('stopped')
  }
}

say('ready')
let node: ChaosNode | null = null
for await (const line of createInterface({ input: process.stdin })) {
  const [word, rest] = [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]
  if (word === 'go') node = new ChaosNode(JSON.parse(rest) as NodeOptions)
  if (word === 'quiet') void node!.quiet()
  if (word === 'stop') await node!.stop(Number(rest))
}
// The driver is gone, or has what it wanted.
process.exit(0)
