// What a large store costs: claims under contention, the due query, and doing nothing at all.

import type { Engine } from '../../src/create-engine.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { median, type Figure } from '../support.ts'
import type { Ground } from '../ground.ts'
import { jobs, makeRig } from './rig.ts'

const BATCH = 50_000
const FEW = 10_000
/** Heaps shrink and servers rewrite their logs a while after much was written. */
const CALM_MS = 12_000

export async function backlog(ground: Ground, future: number, idleMs: number): Promise<Figure[]> {
  return ground.fresh(async url => {
    const engine = await makeRig(url)
    engine.handlers.set('noop', async () => {})
    const now = engine.clock.now()
    const dueLater = now + 30 * DAY
    const idle = (i: number) =>
      ({ lane: `idle-${i % 100_000}`, trigger: { kind: 'once', at: dueLater + i } }) as const
    await fill(engine, FEW, idle)
    await look(engine)
    const few = await look(engine)
    await fill(engine, future - FEW, i => idle(FEW + i))
    await calm(engine)
    const many = await look(engine)
    const figures: Figure[] = looks(few, many, future)
    figures.push(...(await idleCpu(engine, future, idleMs)))
    await fill(engine, 100_000, i => ({
      lane: `lane-${i % 1_000}`,
      trigger: { kind: 'once', at: now - HOUR + i },
    }))
    figures.push(await contendedClaim(engine, ground.bars.claimMs))
    figures.push(await behindHerd(engine))
    await engine.store.close()
    return figures
  })
}

async function fill(
  engine: Engine,
  count: number,
  make: Parameters<typeof jobs>[1],
): Promise<void> {
  for (let at = 0; at < count; at += BATCH) {
    const size = Math.min(BATCH, count - at)
    await engine.client.create(jobs(size, i => make(at + i)))
  }
}

const wait = (engine: Engine, ms: number) =>
  new Promise<void>(resolve => engine.clock.after(ms, resolve))

async function calm(engine: Engine): Promise<void> {
  globalThis.gc?.()
  await wait(engine, CALM_MS)
}

interface Look {
  readonly nextMs: number
  readonly claimMs: number
}

/** What a tick asks for when nothing is due. */
async function look(engine: Engine): Promise<Look> {
  const lines = [{ queue: 'default', handler: 'noop' }]
  const next: number[] = []
  const empty: number[] = []
  for (let i = 0; i < 500; i++) {
    let from = performance.now()
    await engine.store.nextDueAt(lines)
    next.push(performance.now() - from)
    from = performance.now()
    await claim(engine, 50)
    empty.push(performance.now() - from)
  }
  return { nextMs: median(next), claimMs: median(empty) }
}

function looks(few: Look, many: Look, future: number): Figure[] {
  const bar = { unit: 'ms', target: 1, lowerIsBetter: true }
  return [
    { name: `due query among ${future} waiting`, value: many.nextMs, ...bar },
    { name: `claim with nothing due among ${future}`, value: many.claimMs, ...bar },
    {
      name: `both among ${future}, by both among ${FEW}`,
      value: (many.nextMs + many.claimMs) / (few.nextMs + few.claimMs),
      unit: '×',
      target: 1.5,
      lowerIsBetter: true,
    },
  ]
}

async function idleCpu(engine: Engine, future: number, idleMs: number): Promise<Figure[]> {
  await engine.node.start()
  await calm(engine)
  const memory = process.memoryUsage().rss
  const before = process.cpuUsage()
  await wait(engine, idleMs)
  const used = process.cpuUsage(before)
  await engine.node.stop()
  const share = ((used.user + used.system) / 1_000 / idleMs) * 100
  const grown = (process.memoryUsage().rss - memory) / 1024 / 1024
  return [
    {
      name: `idle CPU with ${future} waiting, ${idleMs / 1_000} s`,
      value: share,
      unit: '%',
      target: 0.5,
      lowerIsBetter: true,
      note: `memory ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`,
    },
  ]
}

function claim(engine: Engine, limit: number) {
  const { store, clock, ids } = engine
  const now = clock.now()
  return store.claim({
    queue: 'default',
    handlers: ['noop'],
    now,
    limit,
    owner: 'bench',
    leaseMs: 60_000,
    token: ids.token(),
    attemptIds: Array.from({ length: limit }, () => ids.next(now)),
  })
}

async function contendedClaim(engine: Engine, bar: number): Promise<Figure> {
  const took: number[] = []
  for (let i = 0; i < 40; i++) {
    const from = performance.now()
    await claim(engine, 50)
    took.push(performance.now() - from)
  }
  return {
    name: 'claim 50 of 100,000 due from 1,000 lanes, with the idle ones',
    value: median(took),
    unit: 'ms',
    target: bar,
    lowerIsBetter: true,
    note: `worst ${Math.max(...took).toFixed(1)} ms`,
  }
}

/** How many claims of 500 pass before a lane that fell due behind the herd is served. */
async function behindHerd(engine: Engine): Promise<Figure> {
  await engine.client.create(jobs(1, () => ({ lane: 'newcomer' })))
  let claims = 0
  for (;;) {
    claims++
    const taken = await claim(engine, 500)
    if (taken.length === 0 || taken.some(job => job.spec.lane === 'newcomer')) break
  }
  return {
    name: 'claims of 500 until a newcomer behind the herd is served',
    value: claims,
    unit: 'claims',
    target: 60,
    lowerIsBetter: true,
  }
}
