// BullMQ on Redis and on its PostgreSQL backend, each with and without finished jobs kept.

import { createPostgresBackend, Queue, Worker } from 'bullmq'
import {
  chunks,
  cronAt,
  each,
  payload,
  Tally,
  type Contender,
  type Session,
} from '../side/contender.ts'

// The type of the backend is a parameter of the classes; here it is chosen at run time.
const AnyQueue = Queue as unknown as new (...args: unknown[]) => Queue
const AnyWorker = Worker as unknown as new (...args: unknown[]) => Worker

const GRID_MS = 1_000
const BULK = 1_000
const CONCURRENCY = 200
const QUEUE = 'bench'

/** PostgreSQL ends the connections of a place that is removed; anything else is worth reading. */
const tellError = (error: Error & { code?: string }) => {
  if (error.code !== '57P01') console.error('bullmq:', error.message)
}

interface Kind {
  readonly store: 'redis' | 'postgres'
  readonly keeps: Contender['keeps']
}

const durability = {
  redis: 'append-only file, fsync every second',
  postgres: 'fsync and synchronous_commit on',
} as const

const contender = ({ store, keeps }: Kind): Contender => ({
  name: keeps === 'nothing' ? 'bullmq' : 'bullmq keeping',
  store,
  settings: `concurrency ${CONCURRENCY}, removeOnComplete ${keeps === 'nothing'}; ${durability[store]}`,
  keeps,
  gridMs: GRID_MS,
  open: ({ url }) => open(url, { store, keeps }),
})

function connectionOf(url: string, { store }: Kind) {
  if (store === 'postgres') return { connectionString: url, max: 20, migrate: true }
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

async function open(url: string, kind: Kind): Promise<Session> {
  const connection = connectionOf(url, kind)
  const backend = kind.store === 'postgres' ? createPostgresBackend : undefined
  const kept = { removeOnComplete: kind.keeps === 'nothing', removeOnFail: true }
  const queue = new AnyQueue(QUEUE, { connection, defaultJobOptions: kept }, backend)
  queue.on('error', tellError)
  await queue.waitUntilReady()
  const done = new Tally()
  let worker: Worker | null = null
  const dataOf = (lane: string) => ({ lane, ...payload })
  return {
    insertMany: (count, lane = 'a') =>
      chunks(count, BULK, (_, length) =>
        queue.addBulk(Array.from({ length }, () => ({ name: 'noop', data: dataOf(lane) }))),
      ),
    insertOne: (lane = 'a', at) => queue.add('noop', { at, ...dataOf(lane) }),
    insertMixed: jobs =>
      chunks(jobs.length, BULK, (from, length) =>
        queue.addBulk(
          jobs.slice(from, from + length).map(job => {
            // Less is more urgent, and 0 is none.
            return { name: job.handler, data: job.payload, opts: { priority: 3 - job.priority } }
          }),
        ),
      ),
    work: async onStart => {
      const handler = async ({ data }: { data: { lane: string; at?: number } }) =>
        onStart(data.lane, data.at)
      const options = { connection, concurrency: CONCURRENCY, ...kept }
      worker = new AnyWorker(QUEUE, handler, options, backend)
      worker.on('completed', () => done.add())
      worker.on('error', tellError)
      await worker.waitUntilReady()
    },
    done: count => done.reached(count),
    createSchedules: (count, dueAt) => {
      const pattern = cronAt(dueAt, GRID_MS)
      const template = { name: 'noop', data: dataOf('a') }
      return each(count, 500, i =>
        queue.upsertJobScheduler(`schedule-${i}`, { pattern, tz: 'UTC' }, template),
      )
    },
    close: async () => {
      await worker?.close(true)
      await queue.close()
    },
  }
}

export default [
  contender({ store: 'redis', keeps: 'nothing' }),
  contender({ store: 'redis', keeps: 'history' }),
  contender({ store: 'postgres', keeps: 'nothing' }),
]
