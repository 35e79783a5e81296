// pg-boss at its fastest documented settings: large batches of one outcome, or notified at once.

import { PgBoss } from 'pg-boss'
import {
  chunks,
  cronAt,
  each,
  payload,
  type Contender,
  type Place,
  type Session,
} from '../side/contender.ts'
import { Ends } from './ends.ts'

const GRID_MS = 60_000
const BULK = 5_000
const QUEUE = 'bench'

const workers = {
  throughput: { batchSize: 5_000, localConcurrency: 2, burstWhenBatchFull: true },
  latency: { batchSize: 100, burstWhenBatchFull: true },
} as const

const contender: Contender = {
  name: 'pg-boss',
  store: 'postgres',
  settings:
    'batchSize 5000 with one outcome per batch, localConcurrency 2, burstWhenBatchFull; for latency ' +
    'useListenNotify; cron looked at every second; fsync and synchronous_commit on',
  keeps: 'history',
  gridMs: GRID_MS,
  open,
}

async function open({ url, purpose }: Place): Promise<Session> {
  const boss = new PgBoss({
    connectionString: url,
    max: 20,
    useListenNotify: purpose === 'latency',
    cronWorkerIntervalSeconds: 1,
    cronMonitorIntervalSeconds: 1,
  })
  boss.on('error', error => console.error('pg-boss:', error.message))
  await boss.start()
  await boss.createQueue(QUEUE, { notify: purpose === 'latency' })
  const ends = new Ends(
    url,
    `select count(*) as left from pgboss.job where name = '${QUEUE}' and state < 'completed'`,
  )
  const dataOf = (lane: string) => ({ lane, ...payload })
  return {
    insertMany: (count, lane = 'a') =>
      chunks(count, BULK, (_, length) =>
        boss.insert(
          QUEUE,
          Array.from({ length }, () => ({ data: dataOf(lane) })),
        ),
      ),
    insertOne: (lane = 'a', at) => boss.send(QUEUE, { at, ...dataOf(lane) }),
    // A queue has one list of workers: the name of the handler is part of the data.
    insertMixed: jobs =>
      chunks(jobs.length, BULK, (from, length) =>
        boss.insert(
          QUEUE,
          jobs.slice(from, from + length).map(job => {
            return { data: { handler: job.handler, ...job.payload }, priority: job.priority }
          }),
        ),
      ),
    work: async onStart => {
      const options = { ...workers[purpose], pollingIntervalSeconds: 0.5 }
      await boss.work<{ lane: string; at?: number }>(QUEUE, options, async jobs => {
        await Promise.all(jobs.map(({ data }) => onStart(data.lane, data.at)))
        ends.started.add(jobs.length)
      })
    },
    done: count => ends.done(count),
    createSchedules: (count, dueAt) => {
      const cron = cronAt(dueAt, GRID_MS)
      return each(count, 20, i =>
        boss.schedule(QUEUE, cron, dataOf('a'), { tz: 'UTC', key: `schedule-${i}` }),
      )
    },
    close: async () => {
      await ends.close()
      await boss.stop({ graceful: false, timeout: 1_000 })
    },
  }
}

export default [contender]
