// The victim: makes and runs jobs as fast as it can, and notes each acknowledged write after the
// fact. It says `ready` once it is loaded and begins when told to, so that its parent can aim.
// node --import tsx kill-child.ts <database> <acknowledgements> <life>

import { openSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import type { Context } from '../../src/engine/context.ts'
import { after, openEngine } from './engine.ts'

const [path = '', ackPath = '', life = '0'] = process.argv.slice(2)

const interval = (everyMs: number) =>
  ({ kind: 'interval', everyMs, from: 'schedule', anchor: 0 }) as const

/** Schedules that live through all kills. */
export const schedules: Readonly<Record<string, Partial<SpecInput>>> = {
  'every-50': { trigger: interval(50) },
  'allow-80': { trigger: interval(80), overlap: { policy: 'allow' } },
  'queue-60': { trigger: interval(60), overlap: { policy: 'queue', limit: 3 } },
  'flaky-70': {
    trigger: interval(70),
    retry: {
      limit: 3,
      backoff: { kind: 'fixed', delayMs: 5 },
      resetAfterMs: null,
      exhausted: 'next',
      yields: false,
    },
  },
}

async function handle(context: Context): Promise<string> {
  if (context.fence % 3 === 0) await after(context.fence % 20)
  if (context.job.id.startsWith('flaky') && context.fence % 2 === 0) throw new Error('flaky')
  return context.runId
}

async function main(): Promise<void> {
  const ack = openSync(ackPath, 'a')
  const note = (kind: string, ...words: (string | number)[]) =>
    writeSync(ack, `${kind} ${words.join(' ')}\n`)
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  const nodeId = `life-${life}`
  const { node, client, events } = await openEngine({
    url: `sqlite:${path}`,
    nodeId,
    settings: { leaseMs: 250 },
    handlers: { work: handle },
  })
  events.on('settled', ({ settled }) => {
    for (const { attempt } of settled) {
      if (attempt) note('outcome', attempt.jobId, attempt.id, attempt.number, attempt.outcome)
    }
  })
  await node.start()
  const made = Object.entries(schedules).map(([id, spec]) => ({
    id,
    spec: completeSpec({ handler: 'work', trigger: { kind: 'manual' }, ...spec }),
  }))
  await client.create(made)
  for (const { id } of made) note('created', id)
  process.stdout.write('working\n')
  for (const { id } of made) {
    // One that was set aside after too many crashes is let go again.
    if ((await client.get(id)).state === 'failed') await client.retry(id)
  }
  for (let n = 0; ; n++) {
    const id = `once-${life}-${n}`
    const trigger = { kind: 'once', at: 0 } as const
    await client.create([{ id, spec: completeSpec({ handler: 'work', trigger }) }])
    note('created', id)
    // Without a breath the handlers would never get their turn.
    if (n % 3 === 2) await after(1)
  }
}

await main()
