// One process of the deploy tests: a program of a user with its own list of jobs and default options
// but for shorter durations. Input: `go <options>`, `stop`. Output: `ready`, `working`, `stopped`.

import { createInterface } from 'node:readline'
import { createScheduler, every, job } from '../../../src/index.ts'
import { WitnessLog } from './witness.ts'
import { recordEvents } from './witness-events.ts'

export interface DeployOptions {
  readonly url: string
  readonly nodeId: string
  readonly witness: string
  /** The names it declares. */
  readonly jobs: readonly string[]
  /** A process that only enqueues runs none of them. */
  readonly runsJobs: boolean
  readonly everyMs: number
  readonly leaseMs: number
}

const say = (text: string) => process.stdout.write(`${text}\n`)

async function start(options: DeployOptions) {
  const { url, nodeId, witness, jobs, runsJobs, everyMs, leaseMs } = options
  const scheduler = createScheduler({
    jobs: jobs.map(name => job(name, { schedule: every(everyMs), run: () => name })),
    store: url,
    nodeId,
    lockDurationMs: leaseMs,
    staleLockCheckMs: leaseMs,
    checkIntervalMs: 200,
    print: () => {},
    ...(runsJobs ? {} : { queues: {} }),
  })
  await scheduler.start()
  recordEvents(scheduler.engine.events, new WitnessLog(witness, nodeId))
  return scheduler
}

say('ready')
let scheduler: Awaited<ReturnType<typeof start>> | null = null
for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith('go ')) {
    scheduler = await start(JSON.parse(line.slice('go '.length)) as DeployOptions)
    say('working')
  }
  if (line === 'stop') {
    await scheduler!.stop()
    say('stopped')
  }
}
// The driver is gone, or has what it wanted.
process.exit(0)
