// Agenda on its PostgreSQL backend, with notifications and high concurrency.

import { PostgresBackend } from '@agendajs/postgres-backend'
import { Agenda } from 'agenda'
import { cronAt, each, payload, type Contender, type Session } from '../side/contender.ts'
import { Ends } from './ends.ts'

const GRID_MS = 1_000
const CONCURRENCY = 100
const JOB = 'noop'

const contender = (keeps: Contender['keeps']): Contender => ({
  name: 'agenda',
  store: 'postgres',
  settings:
    `concurrency ${CONCURRENCY}, processEvery 1 s, notifications, removeOnComplete ` +
    `${keeps === 'nothing'}; fsync and synchronous_commit on`,
  keeps,
  gridMs: GRID_MS,
  open: ({ url }) => open(url, keeps === 'nothing'),
})

async function open(url: string, removeOnComplete: boolean): Promise<Session> {
  const agenda = new Agenda({
    backend: new PostgresBackend({ poolConfig: { connectionString: url, max: 20 } }),
    processEvery: 1_000,
    maxConcurrency: CONCURRENCY,
    defaultConcurrency: CONCURRENCY,
    removeOnComplete,
  })
  agenda.on('error', error => console.error('agenda:', error.message))
  await agenda.ready
  const ends = new Ends(
    url,
    'select count(*) as left from agenda_jobs where next_run_at is not null or locked_at is not null',
  )
  const dataOf = (lane: string) => ({ lane, ...payload })
  return {
    insertOne: (lane = 'a') => agenda.now(JOB, dataOf(lane)),
    work: async onStart => {
      agenda.define<{ lane: string }>(JOB, async job => {
        onStart(job.attrs.data.lane)
        ends.started.add()
      })
      await agenda.start()
    },
    done: count => ends.done(count),
    createSchedules: (count, dueAt) => {
      const interval = cronAt(dueAt, GRID_MS)
      return each(count, 20, () =>
        agenda
          .create(JOB, dataOf('a'))
          .repeatEvery(interval, { timezone: 'UTC', skipImmediate: true })
          .save(),
      )
    },
    close: async () => {
      await agenda.stop(true)
      await ends.close()
    },
  }
}

export default [contender('history')]
