// Ten thousand jobs due in the same millisecond: how late does each start?

import { median, percentile, type Figure } from '../support.ts'
import type { Ground } from '../ground.ts'
import { jobs, makeRig, settledCount } from './rig.ts'

const LEAD_MS = 1_500

export async function herd(ground: Ground, rounds: number, count: number): Promise<Figure[]> {
  const p50: number[] = []
  const p99: number[] = []
  await ground.fresh(url => lateness(url, count))
  for (let round = 0; round < rounds; round++) {
    const late = await ground.fresh(url => lateness(url, count))
    p50.push(percentile(late, 0.5))
    p99.push(percentile(late, 0.99))
  }
  return [
    { name: `${count} due at once, start lateness p50`, value: median(p50), unit: 'ms' },
    {
      name: `${count} due at once, start lateness p99`,
      value: median(p99),
      unit: 'ms',
      target: ground.bars.herdP99Ms,
      lowerIsBetter: true,
    },
  ]
}

async function lateness(url: string, count: number): Promise<number[]> {
  const engine = await makeRig(url)
  const late: number[] = []
  const at = engine.clock.now() + LEAD_MS
  engine.handlers.set('noop', async context => {
    late.push(context.lateMs)
  })
  await engine.client.create(jobs(count, () => ({ trigger: { kind: 'once', at } })))
  const all = settledCount(engine, count)
  await engine.node.start()
  await all
  await engine.node.stop()
  await engine.store.close()
  return late
}

/** From asking for a run to its handler being called, on a node with nothing else to do. */
export async function idleLatency(ground: Ground, samples: number): Promise<Figure[]> {
  const took = await ground.fresh(async url => {
    const engine = await makeRig(url)
    const times: number[] = []
    let called: (() => void) | null = null
    engine.handlers.set('noop', () => called?.())
    await engine.node.start()
    for (let i = 0; i < samples; i++) {
      const done = settledCount(engine, 1)
      const from = performance.now()
      const start = new Promise<void>(resolve => {
        called = resolve
      })
      await engine.client.create(jobs(1, () => ({}), engine.clock))
      await start
      times.push(performance.now() - from)
      await done
    }
    await engine.node.stop()
    await engine.store.close()
    return times
  })
  return [
    {
      name: 'enqueue → start, idle, p50',
      value: percentile(took, 0.5),
      unit: 'ms',
      target: ground.bars.latencyMs,
      lowerIsBetter: true,
      note: `p99 ${percentile(took, 0.99).toFixed(2)} ms`,
    },
  ]
}
