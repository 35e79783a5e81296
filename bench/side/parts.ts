// What is measured, in the process of a contender: each part opens a fresh place and leaves samples.

import { each, Tally, type Contender, type Place, type Session } from './contender.ts'
import { memoryMb, spent, type Spent } from './usage.ts'
import { percentile } from '../support.ts'

export interface Sample {
  readonly row: string
  readonly value: number
  /** Shares of a processor while it was measured. */
  readonly client?: number
  readonly server?: number
  readonly note?: string
}

export interface Order {
  readonly place: Place
  readonly serverPid: number | null
  readonly count: number
  /** What else a part needs to know. */
  readonly more: Readonly<Record<string, number>>
}

type Part = (contender: Contender, order: Order) => Promise<Sample[]>

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const SINGLE_IN_FLIGHT = 50
const nothing = () => {}

function rate(row: string, count: number, { ms, client, server }: Spent): Sample {
  return { row, value: (count / ms) * 1_000, client, server }
}

async function opened<T>(
  contender: Contender,
  { place }: Order,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await contender.open(place)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

const insertAll = (session: Session, count: number, lane?: string): Promise<void> =>
  session.insertMany
    ? session.insertMany(count, lane)
    : each(count, SINGLE_IN_FLIGHT, () => session.insertOne!(lane))

/** Those that keep nothing stand beside what keeps history too; Carillon has a setting for each. */
function rowsOf({ name, keeps }: Contender): string[] {
  if (keeps === 'history') return ['runs']
  return name === 'carillon' ? ['runs-unkept'] : ['runs', 'runs-unkept']
}

/** Bulk insert, then working all of it off. */
const jobs: Part = (contender, order) =>
  opened(contender, order, async session => {
    const { count, serverPid } = order
    const samples: Sample[] = []
    const inserted = await spent(serverPid, () => insertAll(session, count))
    const { keeps } = contender
    if (session.insertMany && order.more['isTwin'] !== 1) {
      samples.push(rate('bulk-insert', count, inserted))
    }
    const worked = await spent(serverPid, async () => {
      await session.work(nothing)
      await session.done!(count)
    })
    const note = keeps === 'history' ? 'history kept' : 'nothing kept'
    for (const row of rowsOf(contender)) samples.push({ ...rate(row, count, worked), note })
    return samples
  })

const single: Part = (contender, order) =>
  opened(contender, order, async session => {
    const { count, serverPid } = order
    const used = await spent(serverPid, () =>
      each(count, SINGLE_IN_FLIGHT, () => session.insertOne!()),
    )
    return [rate('single-insert', count, used)]
  })

/** From asking for a run to its handler, on a worker with nothing else to do. */
const latency: Part = (contender, order) =>
  opened(contender, order, async session => {
    const took: number[] = []
    let from = 0
    let called = nothing
    await session.work(() => {
      took.push(performance.now() - from)
      called()
    })
    await wait(order.more['calmMs']!)
    const used = await spent(order.serverPid, async () => {
      for (let i = 0; i < order.count; i++) {
        const start = new Promise<void>(resolve => {
          called = resolve
        })
        from = performance.now()
        await Promise.all([session.insertOne!(), start])
        await wait(2)
      }
    })
    const { client, server } = used
    return [
      { row: 'latency-p50', value: percentile(took, 0.5), client, server },
      { row: 'latency-p99', value: percentile(took, 0.99), client, server },
    ]
  })

const size = (count: number) => (count >= 1_000_000 ? `${count / 1e6}m` : `${count / 1_000}k`)

/** Creates them, looks what waiting for them costs, and how late each starts when all fall due. */
const schedules: Part = (contender, order) =>
  opened(contender, order, async session => {
    const { count, serverPid, more } = order
    const { dueAt: given = 0, idleMs = 1_000, capMs = 60_000 } = more
    const dueAt = given > 0 ? given : null
    const late: number[] = []
    const started = new Tally()
    await session.work(() => {
      late.push(Date.now() - (dueAt ?? 0))
      started.add()
    })
    const made = await spent(serverPid, () => session.createSchedules!(count, dueAt))
    const { client, server } = made
    const samples: Sample[] = [
      { row: `create-${size(count)}`, value: made.ms / 1_000, client, server },
      { row: `memory-${size(count)}`, value: memoryMb() },
    ]
    const left = dueAt === null ? Infinity : dueAt - Date.now() - 300
    if (left < idleMs) return [{ row: 'too-soon', value: made.ms }]
    // What creating leaves to do is not part of waiting.
    await wait(Math.min(1_000, idleMs, Math.max(0, left - idleMs)))
    const idle = await spent(serverPid, () => wait(idleMs))
    const idleShares = { client: idle.client, server: idle.server }
    samples.push({
      row: `idle-${size(count)}`,
      value: (idle.client + idle.server) * 1_000,
      ...idleShares,
    })
    if (dueAt === null) return samples
    const herd = await spent(serverPid, async () => {
      const cap = wait(dueAt - Date.now() + capMs)
      await Promise.race([started.reached(count), cap])
    })
    const missing = count - late.length
    const note = missing > 0 ? { note: `${missing} not started ${capMs / 1_000} s later` } : {}
    for (let i = 0; i < missing; i++) late.push(capMs)
    const shares = { client: herd.client, server: herd.server, ...note }
    samples.push(
      { row: `late-p50-${size(count)}`, value: percentile(late, 0.5), ...shares },
      { row: `late-p99-${size(count)}`, value: percentile(late, 0.99), ...shares },
    )
    return samples
  })

/** One user floods the queue, another adds one job: how long does that one wait? */
const flood: Part = (contender, order) =>
  opened(contender, order, async session => {
    await insertAll(session, order.count, 'a')
    let before = 0
    let heard = nothing
    const isServed = new Promise<void>(resolve => {
      heard = resolve
    })
    let isB = false
    await session.work(lane => {
      if (lane === 'b') {
        isB = true
        heard()
      } else if (!isB) before++
    })
    const from = performance.now()
    const at = before
    await session.insertOne!('b')
    await isServed
    const note = `${before - at} of the other user’s started first`
    return [{ row: 'flood', value: performance.now() - from, note }]
  })

/** The first few thousand runs beside a small or a large backlog; the process ends after it. */
const backlog: Part = async (contender, { place, count, serverPid, more }) => {
  const session = await contender.open(place)
  const wanted = more['wanted']!
  await insertAll(session, count)
  const started = new Tally()
  const used = await spent(serverPid, async () => {
    await session.work(() => started.add())
    await started.reached(wanted)
  })
  return [rate(`backlog-${size(count)}`, wanted, used)]
}

export const parts = { jobs, single, latency, schedules, flood, backlog } as const
export type PartName = keyof typeof parts
