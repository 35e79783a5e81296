// Bulk insert and claim→settle of no-op jobs, history kept, beside the raw limit of the same run.

import { join } from 'node:path'
import { rawCycle } from '../raw/sqlite-limit.ts'
import { inFolder, median, perSecond, type Figure } from '../support.ts'
import { jobs, makeRig, settledCount } from './rig.ts'

export async function throughput(rounds: number, count: number): Promise<Figure[]> {
  const inserts: number[] = []
  const runs: number[] = []
  const raws: number[] = []
  // Code that has not run yet is compiled while it does: that is not what a round is to measure.
  await inFolder(folder => once(folder, Math.ceil(count / 4)))
  for (let round = 0; round < rounds; round++) {
    const { inserted, ran } = await inFolder(folder => once(folder, count))
    inserts.push(inserted)
    runs.push(ran)
    raws.push(await inFolder(async folder => rawCycle(join(folder, 'raw.db'), count, 500)))
  }
  const raw = median(raws)
  return [
    { name: 'bulk insert', value: median(inserts), unit: 'jobs/s', target: 50_000 },
    {
      name: 'claim → settle, no-op handler, history kept, FULL',
      value: median(runs),
      unit: 'runs/s',
      target: 40_000,
      note: `${Math.round((median(runs) / raw) * 100)} % of raw; all rounds ${runs.join(', ')}`,
    },
    { name: 'raw batched statements, same run', value: raw, unit: 'rows/s' },
  ]
}

async function once(folder: string, count: number) {
  const engine = await makeRig(folder)
  engine.handlers.set('noop', async () => {})
  const made = jobs(count, () => ({}))
  const from = performance.now()
  await engine.client.create(made)
  const inserted = perSecond(count, performance.now() - from)
  const all = settledCount(engine, count)
  const started = performance.now()
  await engine.node.start()
  await all
  const ran = perSecond(count, performance.now() - started)
  await engine.node.stop()
  await engine.store.close()
  return { inserted, ran }
}
