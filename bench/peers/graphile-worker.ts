// Graphile Worker at its fastest documented settings: a local queue and batched completion, or neither
// where latency counts. It deletes finished jobs and takes schedules at its start only.

import {
  Logger,
  makeWorkerUtils,
  parseCronItems,
  run,
  type Runner,
  type RunnerOptions,
} from 'graphile-worker'
import {
  chunks,
  cronAt,
  payload,
  type Contender,
  type OnStart,
  type Place,
  type Session,
} from '../side/contender.ts'
import { MIXED_HANDLERS } from '../side/mixed-jobs.ts'
import { Ends } from './ends.ts'

const GRID_MS = 60_000
const BULK = 5_000
const TASK = 'noop'

const presets = {
  throughput: {
    worker: {
      concurrentJobs: 100,
      maxPoolSize: 25,
      localQueue: { size: 5_000 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  latency: { worker: { concurrentJobs: 24, maxPoolSize: 25 } },
}

const contender: Contender = {
  name: 'graphile-worker',
  store: 'postgres',
  settings:
    '100 jobs at once, localQueue 5000, completions batched; for latency 24 jobs and no local queue; ' +
    'fsync and synchronous_commit on',
  keeps: 'nothing',
  gridMs: GRID_MS,
  open,
}

const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error('graphile-worker:', message)
})

async function open({ url, purpose }: Place): Promise<Session> {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  const ends = new Ends(
    url,
    'select case when exists (select from graphile_worker.jobs) then 1 else 0 end as left',
  )
  let runner: Runner | null = null
  let heard: OnStart = () => {}
  const handle = async (data: unknown) => {
    const { lane, at } = data as { lane: string; at?: number }
    await heard(lane, at)
    ends.started.add()
  }
  const start = async (more: Partial<RunnerOptions>) => {
    await runner?.stop()
    runner = await run({
      connectionString: url,
      logger,
      noHandleSignals: true,
      preset: presets[purpose],
      parsedCronItems: [],
      taskList: {
        ...Object.fromEntries([TASK, ...MIXED_HANDLERS].map(name => [name, handle])),
      },
      ...more,
    })
  }
  const jobOf = (lane: string) => ({ identifier: TASK, payload: { lane, ...payload } })
  return {
    insertMany: (count, lane = 'a') =>
      chunks(count, BULK, (_, length) => utils.addJobs(Array.from({ length }, () => jobOf(lane)))),
    insertOne: (lane = 'a', at) => utils.addJob(TASK, { lane, at, ...payload }),
    insertMixed: jobs =>
      chunks(jobs.length, BULK, (from, length) =>
        utils.addJobs(
          jobs.slice(from, from + length).map(job => {
            // Less is more urgent.
            return { identifier: job.handler, payload: job.payload, priority: -job.priority }
          }),
        ),
      ),
    work: async onStart => {
      heard = onStart
      await start({})
    },
    done: count => ends.done(count),
    createSchedules: async (count, dueAt) => {
      const match = cronAt(dueAt, GRID_MS)
      const items = Array.from({ length: count }, (_, i) => {
        return { task: TASK, match, identifier: `schedule-${i}`, payload: { lane: 'a' } }
      })
      await start({ parsedCronItems: parseCronItems(items) })
    },
    close: async () => {
      await runner?.stop()
      await ends.close()
      await utils.release()
    },
  }
}

export default [contender]
