// Schedules in growing numbers: creating them, waiting for them, and all of them falling due together.

import type { Entry } from './fleet.ts'
import type { Sample } from './parts.ts'
import { attempt, best, isSlow, measureOnce, type Run } from './sections.ts'

const MINUTE = 60_000
/** Before the first round nobody knows how long creating takes. */
const FIRST_GUESS_MS = 1.2
const TRIES = 4
const QUICK = 200

interface Size {
  readonly count: number
  readonly isHerd: boolean
  readonly rounds: number
  readonly has: (entry: Entry) => boolean
}

const isMinutely = ({ gridMs }: Entry) => gridMs === MINUTE
const isPeerOfMany = (entry: Entry) =>
  !isSlow(entry) && entry.store !== 'memory' && entry.name !== 'pg-boss'

const all = () => true
const lasting = ({ store }: Entry) => store !== 'memory'

function sizes({ scale: { isQuick, isFull, rounds } }: Run): Size[] {
  if (isQuick) return [{ count: QUICK, isHerd: true, rounds: 1, has: all }]
  return [
    { count: 1_000, isHerd: true, rounds, has: isFull ? all : lasting },
    { count: 10_000, isHerd: true, rounds, has: entry => !isSlow(entry) },
    { count: 100_000, isHerd: false, rounds, has: isPeerOfMany },
    ...(isFull
      ? [{ count: 1_000_000, isHerd: false, rounds: 1, has: (e: Entry) => e.name === 'carillon' }]
      : []),
  ]
}

export async function schedules(run: Run): Promise<void> {
  const entries = run.entries.filter(entry => entry.gridMs !== null && best(entry))
  const tookMs = new Map<string, number>()
  for (const size of sizes(run)) {
    for (let round = 1; round <= size.rounds; round++) {
      for (const entry of entries.filter(size.has)) {
        if (!isWorthIt(run, entry, size, round)) continue
        const samples = await attempt(run, entry, async () => {
          await warmUp(run, entry)
          return once(run, entry, size, tookMs)
        })
        if (samples) run.ledger.add('schedules', entry, samples)
        // A process that made many timers starts the next round with a heap like the others'.
        await run.fleet.renew(entry)
      }
    }
  }
}

const WARM_UP = 200
const WARM_UP_JOBS = 5_000

/**
 * Every measurement has a new process: it creates a few schedules and works off jobs first, while
 * nobody counts. Those whose schedules fire once a minute could not warm up by firing.
 */
async function warmUp(run: Run, entry: Entry): Promise<void> {
  const section = 'schedules'
  if (entry.store !== 'memory') {
    const count = (one: Entry) => (isSlow(one) ? WARM_UP_JOBS / 20 : WARM_UP_JOBS)
    await measureOnce(run, entry, { section, part: 'jobs', purpose: 'throughput', count })
  }
  await measureOnce(run, entry, {
    section,
    part: 'schedules',
    purpose: 'latency',
    count: () => WARM_UP,
    more: () => ({ dueAt: 0, idleMs: 1 }),
  })
}

/** A minute of waiting for each round: one round unless the whole is asked for, and none when quick. */
function isWorthIt({ scale }: Run, entry: Entry, { count, isHerd }: Size, round: number): boolean {
  if (!isMinutely(entry) || !isHerd) return true
  // Its 10,000 would start over several minutes.
  if (entry.name === 'pg-boss' && count > 1_000) return false
  return scale.isFull || round === 1
}

async function once(
  run: Run,
  entry: Entry,
  { count, isHerd }: Size,
  tookMs: Map<string, number>,
): Promise<Sample[]> {
  // Long enough for what is done every few seconds, short of the collections of an idle heap.
  const idleMs = run.scale.isQuick ? 1_000 : 5_000
  const capMs = run.scale.isQuick || entry.store === 'memory' ? 15_000 : 60_000
  const key = `${entry.name} ${entry.store} ${count}`
  let leadMs = 1.3 * (tookMs.get(key) ?? FIRST_GUESS_MS * count) + idleMs + 1_500
  for (let tries = 1; ; tries++) {
    const dueAt = isHerd ? onGrid(Date.now() + leadMs + openMs(entry), entry.gridMs!) : 0
    const samples = await measureOnce(run, entry, {
      section: 'schedules',
      part: 'schedules',
      purpose: 'latency',
      count: () => count,
      more: () => ({ dueAt, idleMs, capMs }),
    })
    const [first] = samples
    const isTooSoon = first?.row === 'too-soon'
    if (first) tookMs.set(key, isTooSoon ? first.value : first.value * 1_000)
    if (!isTooSoon) return samples
    if (tries >= TRIES) throw new Error('creating took longer than the time left, again and again')
    leadMs = Math.max(2 * leadMs, 2 * first.value + idleMs + 2_000)
  }
}

/** Connecting and making tables, before anything is created. */
const openMs = ({ store }: Entry): number => (store === 'memory' ? 500 : 1_500)

const onGrid = (at: number, gridMs: number): number => Math.ceil(at / gridMs) * gridMs
