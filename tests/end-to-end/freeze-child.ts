// One of two nodes on one SQLite file. It says what it does, line by line, and ends when told to.
// node --import tsx freeze-child.ts <database> <node> <lease in ms>

import { once } from 'node:events'
import { completeSpec } from '../../src/core/spec.ts'
import type { Context } from '../../src/engine/context.ts'
import { after, openEngine } from './engine.ts'

const [path = '', nodeId = '', leaseMs = '400'] = process.argv.slice(2)
const JOBS = 6
const WORK_MS = 60

const say = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)

/** Goes on whatever it is told, as code that was stopped in the middle would. */
async function handle(context: Context): Promise<string> {
  say('begins', context.job.id, context.fence)
  await after(WORK_MS)
  say('ends', context.job.id, context.fence)
  return nodeId
}

async function main(): Promise<void> {
  const { node, client, events, store } = await openEngine({
    url: `sqlite:${path}`,
    nodeId,
    settings: { leaseMs: Number(leaseMs) },
    handlers: { work: handle },
  })
  events.on('settled', ({ settled }) => {
    for (const { attempt } of settled) {
      if (attempt) say('accepted', attempt.jobId, attempt.fence, attempt.outcome)
    }
  })
  events.on('leaseLost', ({ job }) => say('lost', job.id, job.counters.fence))
  events.on('reaped', ({ jobs }) => {
    for (const job of jobs) say('reaped', job.id, job.counters.fence)
  })
  await client.create(
    Array.from({ length: JOBS }, (_, i) => ({
      id: `job-${i}`,
      spec: completeSpec({
        handler: 'work',
        trigger: { kind: 'interval', everyMs: 100, from: 'schedule', anchor: i * 17 },
      }),
    })),
  )
  await node.start()
  say('ready')
  await once(process.stdin, 'data')
  await node.stop(2_000)
  await store.close()
  say('stopped')
  process.stdin.destroy()
}

await main()
