// The fair queue on each store: what a claim costs beside a small and a large backlog, beside lanes
// that only wait and lanes nobody here serves, with rules and for some lanes only; who is next after
// a flood; and what a million tasks leave.
// Usage: tsx bench/fair.ts [--store sqlite,postgres,redis] [--quick] [--json]

import { fromRule, LANE_KIND, plainRule, spanOfLane } from '../src/core/fairness/lane.ts'
import { ENDED_TASK_KEPT_MS } from '../src/core/limits.ts'
import { DAY, HOUR } from '../src/core/time.ts'
import type { ClaimRequest, Store } from '../src/store/port.ts'
import { openStore } from '../src/compose.ts'
import { openGround, type Ground, type GroundName } from './ground.ts'
import { claimRequest, cycle, insertAll, makeJobs, T0 } from './store/load.ts'
import { perSecond, show, type Figure } from './support.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')
const at = process.argv.indexOf('--store')
const names = (at < 0 ? 'sqlite,postgres,redis' : (process.argv[at + 1] ?? '')).split(',')
const SMALL = 1_000
const LARGE = isQuick ? 100_000 : 1_000_000
const ASIDE = isQuick ? 20_000 : 100_000
const CLAIMS = 30
const LIMIT = 10
const LANES = 100
const RATIO_MAX = 2

const now = T0 + HOUR
const figures: Figure[] = []
const tell = (figure: Figure) => {
  figures.push(figure)
  if (!isJson) show(figure)
}

/** `again` is what another process would open: it remembers nothing of what was pushed. */
type OnStore = <T>(work: (store: Store, again: () => Promise<Store>) => Promise<T>) => Promise<T>

function onFresh(ground: Ground): OnStore {
  return work =>
    ground.fresh(async url => {
      const stores: Store[] = []
      const open = async () => {
        const store = await openStore(url, { now: () => now, listens: false })
        stores.push(store)
        return store
      }
      try {
        return await work(await open(), open)
      } finally {
        for (const store of stores) await store.close()
      }
    })
}

interface Place {
  readonly name: GroundName
  readonly onStore: OnStore
}

async function push(store: Store, count: number, lanes: number, more = {}): Promise<void> {
  const bite = 100_000
  for (let left = count; left > 0; left -= bite) {
    const shape = { lanes, spec: more, due: () => T0 }
    await insertAll(store, makeJobs(Math.min(bite, left), shape), 1_000)
  }
}

/** What was pushed at once is made ready in bites; a claim is measured when that is over. */
async function makeReady(store: Store): Promise<void> {
  const lines = [{ queue: 'default', handler: 'send' }]
  for (let due: number | null = 0; due !== null && due <= now;) {
    await store.claim({ ...claimRequest(now, 1), hasLimits: true })
    due = await store.nextDueAt(lines, now)
  }
}

async function claimMs(store: Store, more: Partial<ClaimRequest> = {}): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < CLAIMS; i++) {
    const request = { ...claimRequest(now, LIMIT), ...more }
    const from = performance.now()
    const { length } = await store.claim(request)
    took.push(performance.now() - from)
    if (length !== LIMIT) throw new Error(`claimed ${length} instead of ${LIMIT}`)
  }
  // Others on the machine make claims slower, never faster.
  return Math.min(...took)
}

interface Scene {
  readonly title: string
  readonly claim?: Partial<ClaimRequest>
  readonly prepare?: (store: Store) => Promise<void>
}

const aDayOn = (i: number) => now + DAY + i
const lane = (i: number) => `lane-${String(i).padStart(6, '0')}`
const rule = { kind: LANE_KIND, key: lane(7), value: fromRule({ ...plainRule, weight: 3 }) }

const scenes: readonly Scene[] = [
  { title: 'nothing else' },
  {
    title: `${ASIDE.toLocaleString('en')} lanes of future jobs`,
    prepare: async store => {
      const shape = { lanes: ASIDE, spec: {}, due: aDayOn }
      await insertAll(store, makeJobs(ASIDE, shape), 1_000)
    },
  },
  {
    title: `a lane of ${ASIDE.toLocaleString('en')} jobs without a handler here`,
    prepare: store => push(store, ASIDE, 1, { handler: 'elsewhere', lane: lane(0) }),
  },
  {
    title: 'rules of users',
    claim: { hasLimits: true },
    prepare: async store => {
      await store.putRecords([{ ...rule, expectedVersion: null, expireAt: null }], now)
    },
  },
  {
    title: 'three lanes only',
    claim: {
      laneScope: {
        scope: 'some',
        lanes: { tenant: 'default', spans: [3, 5, 8].map(i => spanOfLane(lane(i))) },
      },
    },
  },
]

async function costOf({ name, onStore }: Place, { title, claim, prepare }: Scene): Promise<void> {
  const measured: number[] = []
  for (const backlog of [SMALL, LARGE]) {
    const took = await onStore(async (store, again) => {
      // Three lanes of a small backlog would run out.
      await push(store, backlog, claim?.laneScope && backlog === SMALL ? 9 : LANES)
      await prepare?.(store)
      await makeReady(store)
      return claimMs(await again(), claim)
    })
    measured.push(took)
    const size = backlog.toLocaleString('en')
    tell({ name: `${name}: claim of ${LIMIT}, ${size} queued, ${title}`, value: took, unit: 'ms' })
  }
  const value = measured[1]! / measured[0]!
  const bar = { target: RATIO_MAX, lowerIsBetter: true }
  tell({ name: `${name}: large by small backlog, ${title}`, value, unit: 'times', ...bar })
}

/** How many of A start before B's one, which came last, is served. */
async function afterFlood({ name, onStore }: Place): Promise<void> {
  const value = await onStore(async store => {
    await push(store, 100_000, 1)
    await makeReady(store)
    const spec = { lane: 'zoe', priority: 1 } as const
    const [own] = makeJobs(1, { lanes: 1, spec, due: () => now })
    await store.insert([own!], { now })
    for (let starts = 0; starts < 1_000; starts++) {
      const [job] = await store.claim(claimRequest(now, 1))
      if (job?.spec.lane === 'zoe') return starts
    }
    return 1_000
  })
  const title = `${name}: starts of A (100,000 queued) before B’s only one`
  tell({ name: title, value, unit: 'starts', target: 1, lowerIsBetter: true })
}

async function leftBehind({ name, onStore }: Place): Promise<void> {
  await onStore(async store => {
    await push(store, LARGE, LANES)
    const from = performance.now()
    const { rows } = await cycle(store, { batch: 500, now, max: LARGE })
    const ms = performance.now() - from
    const size = rows.toLocaleString('en')
    tell({ name: `${name}: ${size} tasks done`, value: perSecond(rows, ms), unit: '/s' })
    const later = now + ENDED_TASK_KEPT_MS + HOUR
    const prunedFrom = performance.now()
    for (let isFull = true; isFull;) {
      const request = { now: later, limit: 1_000, endedTasksMax: 100_000 }
      ;({ isFull } = await store.prune(request))
    }
    const pruneMs = performance.now() - prunedFrom
    tell({ name: `${name}: pruned`, value: perSecond(rows, pruneMs), unit: '/s' })
    const left = await store.count({}, LARGE)
    const attempts = (await store.attempts({}, { limit: 1 })).items.length
    const value = left + attempts
    tell({
      name: `${name}: rows left a day later`,
      value,
      unit: 'rows',
      target: 0,
      lowerIsBetter: true,
    })
  })
}

for (const name of names as GroundName[]) {
  const ground = await openGround(name)
  const place = { name, onStore: onFresh(ground) }
  for (const scene of scenes) await costOf(place, scene)
  await afterFlood(place)
  await leftBehind(place)
  await ground.end()
}
if (isJson) console.log(JSON.stringify(figures, null, 2))
