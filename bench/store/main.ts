// Each store by itself: inserting, claiming and settling, contention, idling, beside what the same
// database gives to batched statements over a minimal table.
// Usage: tsx bench/store/main.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { openStore } from '../../src/compose.ts'
import type { SpecInput } from '../../src/core/spec.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import type { Store } from '../../src/store/port.ts'
import { openGround, type Ground, type GroundName } from '../ground.ts'
import { median, percentile, perSecond, show, type Figure } from '../support.ts'
import { claimRequest, cycle, insertAll, makeJobs, T0, type Shape } from './load.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')
const at = process.argv.indexOf('--store')
const names = (at < 0 ? 'sqlite,postgres,redis' : (process.argv[at + 1] ?? '')).split(',')
const ROWS = isQuick ? 20_000 : 100_000
const FUTURE = isQuick ? 100_000 : 1_000_000
const ROUNDS = isQuick ? 1 : 3
/** A node claims while it settles: what one loop waits for, the other prepares. */
const LOOPS = 2

function onFresh<T>(ground: Ground, work: (store: Store) => Promise<T>): Promise<T> {
  return ground.fresh(async url => {
    const store = await openStore(url, { now: () => T0, listens: false })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  })
}

async function inserting(ground: Ground): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const batch of [500, 2_000]) {
    const rates: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const jobs = makeJobs(ROWS, { lanes: 100, spec: {}, due: () => T0 })
      const ms = await onFresh(ground, store => insertAll(store, jobs, batch))
      rates.push(perSecond(ROWS, ms))
    }
    const name = `insert tasks due now, batches of ${batch}`
    figures.push({ name, value: median(rates), unit: 'rows/s' })
  }
  return figures
}

const every: Partial<SpecInput> = {
  trigger: { kind: 'interval', everyMs: HOUR, from: 'schedule', anchor: null },
}
const scattered = (i: number): number => T0 + ((i * 7919) % ROWS)
const shapes: Readonly<Record<string, Shape>> = {
  'tasks, in order': { lanes: 1, spec: {}, due: () => T0 },
  'hourly jobs, scattered': { lanes: 1, spec: every, due: scattered },
  'hourly jobs, scattered, 1,000 lanes': { lanes: 1_000, spec: every, due: scattered },
}

async function settling(ground: Ground): Promise<Figure[]> {
  const raws: number[] = []
  for (let i = 0; i < ROUNDS; i++) raws.push(await ground.raw(ROWS))
  const raw = median(raws)
  const figures: Figure[] = [{ name: 'raw batched statements, 500', value: raw, unit: 'rows/s' }]
  for (const [name, shape] of Object.entries(shapes)) {
    for (const batch of [50, 500, 2_000]) {
      const max = Math.floor(ROWS / (batch === 50 ? 8 : 2) / LOOPS)
      const rate = await onFresh(ground, async store => {
        await insertAll(store, makeJobs(ROWS, shape), 1_000)
        const from = performance.now()
        const loops = Array.from({ length: LOOPS }, () =>
          cycle(store, { batch, now: T0 + ROWS, max }),
        )
        const done = (await Promise.all(loops)).reduce((sum, { rows }) => sum + rows, 0)
        return perSecond(done, performance.now() - from)
      })
      const note = `${Math.round((rate / raw) * 100)} % of raw`
      figures.push({ name: `claim + settle ${name}, ${batch}`, value: rate, unit: 'rows/s', note })
    }
  }
  return figures
}

async function times(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < count; i++) {
    const from = performance.now()
    await work()
    took.push(performance.now() - from)
  }
  return took
}

function timesOf(name: string, took: readonly number[]): Figure {
  const note = `p90 ${percentile(took, 0.9).toFixed(2)} ms`
  return { name, value: median(took), unit: 'ms', note }
}

function contending(ground: Ground): Promise<Figure[]> {
  return onFresh(ground, async store => {
    const idle: Shape = { lanes: FUTURE / 10, spec: {}, due: i => T0 + DAY + i }
    for (let i = 0; i < 10; i++) await insertAll(store, makeJobs(FUTURE / 10, idle), 2_000)
    const lines = [{ queue: 'default', handler: 'send' }]
    const next = await times(100, () => store.nextDueAt(lines))
    const empty = await times(100, () => store.claim(claimRequest(T0, 50)))
    await insertAll(store, makeJobs(ROWS, { lanes: 1_000, spec: {}, due: () => T0 }), 2_000)
    const fifty = await times(11, () => store.claim(claimRequest(T0, 50)))
    const many = await times(11, () => store.claim(claimRequest(T0, 500)))
    const beside = `of ${ROWS} due in 1,000 lanes beside ${FUTURE} idle`
    return [
      timesOf(`nextDueAt among ${FUTURE}`, next),
      timesOf(`claim with nothing due among ${FUTURE}`, empty),
      timesOf(`claim 50 ${beside}`, fifty),
      timesOf(`claim 500 ${beside}`, many),
    ]
  })
}

const figures: (Figure & { store: string })[] = []
for (const name of names) {
  const ground = await openGround(name as GroundName)
  try {
    if (!isJson) console.log(`\n  on ${ground.name}`)
    for (const part of [inserting, settling, contending]) {
      const measured = await part(ground)
      figures.push(...measured.map(figure => ({ ...figure, store: ground.name })))
      if (!isJson) measured.forEach(show)
    }
  } finally {
    await ground.end()
  }
}
if (isJson) console.log(JSON.stringify(figures, null, 2))
