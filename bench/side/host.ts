// The process a contender lives in: it takes orders over the channel of its parent and answers with
// samples, so that every contender has a heap, a compiler and processor time of its own.

import { Tally, type Contender, type Session } from './contender.ts'
import { mixedJobs } from './mixed-jobs.ts'
import { parts, type Order, type PartName } from './parts.ts'

export type Message =
  | {
      readonly kind: 'measure'
      readonly part: PartName
      readonly at: number
      readonly order: Order
    }
  | { readonly kind: 'fill'; readonly at: number; readonly order: Order }
  | { readonly kind: 'fill-mixed'; readonly at: number; readonly order: Order }
  | { readonly kind: 'listen'; readonly handlerMs: number }
  | { readonly kind: 'produce'; readonly count: number; readonly gapMs: number }
  | { readonly kind: 'heard' }
  | { readonly kind: 'usage' }
  | { readonly kind: 'ready'; readonly at: number; readonly order: Order }
  | { readonly kind: 'go' }
  | { readonly kind: 'finish' }
  | { readonly kind: 'describe' }

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const TELL_MS = 20
const contenders = ((await import(process.argv[2]!)) as { default: Contender[] }).default
let opened: Session | null = null
const started = new Tally()

async function fill(contender: Contender, { place, count }: Order): Promise<void> {
  const session = await contender.open(place)
  await session.insertMany!(count)
  await session.close()
}

/** Jobs that differ; answers how many were inserted a second. */
async function fillMixed(contender: Contender, { place, count }: Order): Promise<number> {
  const session = await contender.open(place)
  const made = mixedJobs(count)
  const from = performance.now()
  await session.insertMixed!(made)
  const ms = performance.now() - from
  await session.close()
  return (count / ms) * 1_000
}

/** The same clock in every process of a machine. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
let heard: number[] = []

/** Works, and notes how long ago each job was asked for, until it is ended. */
async function listen(handlerMs: number): Promise<void> {
  await opened!.work(async (_lane, at) => {
    if (at !== undefined) heard.push(monotonicMs() - at)
    if (handlerMs > 0) await wait(handlerMs)
  })
}

/** Asks for one job after another at a steady pace, whether or not the one before is recorded. */
async function produce(count: number, gapMs: number): Promise<void> {
  const asked: Promise<unknown>[] = []
  const from = monotonicMs()
  for (let i = 0; i < count; i++) {
    const left = from + i * gapMs - monotonicMs()
    if (left > 0) await wait(left)
    asked.push(opened!.insertOne!('a', monotonicMs()))
  }
  await Promise.all(asked)
}

function takeHeard(): number[] {
  const taken = heard
  heard = []
  return taken
}

/** Connects and waits for the others. */
async function ready(contender: Contender, { place }: Order): Promise<void> {
  opened = await contender.open(place)
}

/** Works beside other processes until it is ended, telling how far it is. */
async function go(): Promise<void> {
  setInterval(() => process.send!({ progress: started.seen }), TELL_MS)
  await opened!.work(() => started.add())
}

async function answer(message: Message): Promise<unknown> {
  switch (message.kind) {
    case 'measure':
      // What the measurement before it left on the heap is not this one's to clear.
      globalThis.gc?.()
      return parts[message.part](contenders[message.at]!, message.order)
    case 'fill':
      return fill(contenders[message.at]!, message.order)
    case 'fill-mixed':
      return fillMixed(contenders[message.at]!, message.order)
    case 'listen':
      return listen(message.handlerMs)
    case 'produce':
      return produce(message.count, message.gapMs)
    case 'heard':
      return takeHeard()
    case 'usage':
      return { rssMb: process.memoryUsage().rss / 2 ** 20, cpuMs: cpuMs() }
    case 'ready':
      return ready(contenders[message.at]!, message.order)
    case 'go':
      return go()
    case 'finish':
      return opened!.done!(started.seen)
    case 'describe':
      return contenders.map(({ name, store, settings, keeps, gridMs }) => {
        return { name, store, settings, keeps, gridMs }
      })
  }
}

process.on('message', (message: Message) => {
  answer(message).then(
    result => process.send!({ result: result ?? null }),
    (error: unknown) =>
      process.send!({ error: error instanceof Error ? error.stack : String(error) }),
  )
})
/** PostgreSQL’s word for a connection ended because its database is removed. */
const ENDED_BY_SERVER = '57P01'
// Some peers leave connections behind when they are closed; their place is removed all the same.
process.on('uncaughtException', (error: Error & { code?: string }) => {
  if (error.code === ENDED_BY_SERVER) return
  console.error(error)
  process.exit(1)
})
process.on('disconnect', () => process.exit())
process.send!({ result: 'ready' })
