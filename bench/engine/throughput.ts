// Bulk insert and claim→settle of no-op jobs, with and without history, beside the raw limit of the
// same run.

import type { SpecInput } from '../../src/core/spec.ts'
import { median, perSecond, type Figure } from '../support.ts'
import type { Ground } from '../ground.ts'
import { jobs, makeRig, settledCount } from './rig.ts'

export async function throughput(ground: Ground, rounds: number, count: number): Promise<Figure[]> {
  const inserts: number[] = []
  const runs: number[] = []
  const unkept: number[] = []
  const raws: number[] = []
  // Code that has not run yet is compiled while it does: that is not what a round is to measure.
  await ground.fresh(url => once(url, Math.ceil(count / 4)))
  for (let round = 0; round < rounds; round++) {
    const { inserted, ran } = await ground.fresh(url => once(url, count))
    inserts.push(inserted)
    runs.push(ran)
    unkept.push((await ground.fresh(url => once(url, count, keepsNothing))).ran)
    raws.push(await ground.raw(count))
  }
  const raw = median(raws)
  const { bars } = ground
  return [
    {
      name: 'bulk insert',
      value: median(inserts),
      unit: 'jobs/s',
      ...(bars.inserts === undefined ? {} : { target: bars.inserts }),
    },
    {
      name: 'claim → settle, no-op handler, history kept',
      value: median(runs),
      unit: 'runs/s',
      target: bars.runs,
      note: `${Math.round((median(runs) / raw) * 100)} % of raw; all rounds ${runs.join(', ')}`,
    },
    {
      name: 'claim → settle, no-op handler, no attempts kept',
      value: median(unkept),
      unit: 'runs/s',
      note: `all rounds ${unkept.join(', ')}`,
    },
    { name: 'raw batched statements, same run', value: raw, unit: 'rows/s' },
  ]
}

const keepsNothing = { retention: { attempts: 0, ageMs: 0 } }

async function once(url: string, count: number, spec: Partial<SpecInput> = {}) {
  const engine = await makeRig(url)
  engine.handlers.set('noop', async () => {})
  const made = jobs(count, () => spec)
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
