// The schedulers that keep nothing: timers of one process, gone with it.

import { Cron } from 'croner'
import nodeCron from 'node-cron'
// @ts-expect-error -- it has no types of its own
import nodeSchedule from 'node-schedule'
import { AsyncTask, SimpleIntervalJob, ToadScheduler } from 'toad-scheduler'
import { cronAt, type Contender, type OnStart, type Session } from '../side/contender.ts'

const GRID_MS = 1_000
/** It refuses what a timer cannot wait for, some 24 days. */
const FAR_MS = 20 * 86_400_000

interface Kind {
  readonly name: string
  readonly settings: string
  readonly add: (dueAt: number | null, run: () => Promise<void>) => void
  readonly close: () => unknown
}

const inMemory = ({ name, settings }: Kind, open: () => Session): Contender => ({
  name,
  store: 'memory',
  settings: `${settings}; nothing survives the process`,
  keeps: 'nothing',
  gridMs: GRID_MS,
  open: () => Promise.resolve(open()),
})

function contender(make: () => Kind): Contender {
  return inMemory(make(), () => {
    const kind = make()
    let heard: OnStart = () => {}
    const run = async () => heard('a')
    return {
      work: async onStart => {
        heard = onStart
      },
      createSchedules: async (count, dueAt) => {
        for (let i = 0; i < count; i++) kind.add(dueAt, run)
      },
      close: async () => {
        await kind.close()
      },
    }
  })
}

function croner(): Kind {
  const made: Cron[] = []
  return {
    name: 'croner',
    settings: 'one Cron per schedule, time zone UTC',
    add: (dueAt, run) => made.push(new Cron(cronAt(dueAt, GRID_MS), { timezone: 'UTC' }, run)),
    close: () => made.forEach(cron => cron.stop()),
  }
}

/** That it is late is measured; saying so for each of thousands would make it later. */
const quiet = { timezone: 'UTC', suppressMissedWarning: true }

function cron(): Kind {
  const made: { destroy(): unknown }[] = []
  return {
    name: 'node-cron',
    settings: 'one task per schedule, time zone UTC',
    add: (dueAt, run) => made.push(nodeCron.schedule(cronAt(dueAt, GRID_MS), run, quiet)),
    close: () => Promise.all(made.map(task => task.destroy())),
  }
}

function schedule(): Kind {
  return {
    name: 'node-schedule',
    settings: 'one job per schedule, time zone UTC',
    add: (dueAt, run) => nodeSchedule.scheduleJob({ rule: cronAt(dueAt, GRID_MS), tz: 'UTC' }, run),
    close: () => nodeSchedule.gracefulShutdown(),
  }
}

function toad(): Kind {
  const scheduler = new ToadScheduler()
  return {
    name: 'toad-scheduler',
    settings: 'one interval job per schedule, whose interval ends at the moment: no cron',
    add: (dueAt, run) => {
      const milliseconds = dueAt === null ? FAR_MS : dueAt - Date.now()
      scheduler.addSimpleIntervalJob(
        new SimpleIntervalJob({ milliseconds }, new AsyncTask('noop', run)),
      )
    },
    close: () => scheduler.stop(),
  }
}

export default [contender(croner), contender(cron), contender(schedule), contender(toad)]
