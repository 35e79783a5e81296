// Carillon on each of its stores, as contenders: a real node with its default settings.

import type { SpecInput } from '../../src/core/spec.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { jobs, makeRig } from '../engine/rig.ts'
import {
  cronAt,
  payload,
  Tally,
  type Contender,
  type Session,
  type StoreKind,
} from './contender.ts'

const durability: Readonly<Record<Exclude<StoreKind, 'memory'>, string>> = {
  sqlite: 'WAL, synchronous=FULL: every commit is on disk',
  postgres: 'fsync and synchronous_commit on: every commit is on disk',
  redis: 'append-only file, fsync every second',
}
const GRID_MS = 1_000

const contender = (store: keyof typeof durability): Contender => ({
  name: 'carillon',
  store,
  settings: `default settings, 100 slots; ${durability[store]}`,
  keeps: 'history',
  gridMs: GRID_MS,
  open: async ({ url }) => session(await makeRig(url, { nodeId: `bench-${process.pid}` })),
})

/** Each with a payload of its own, as the others have it: nothing may be gained by sharing one. */
const jobOf = (lane: string) => ({ lane, payload: { lane, ...payload } })

function session(engine: Engine): Session {
  const settled = new Tally()
  const create = async (count: number, make: (i: number) => Partial<SpecInput>) => {
    await engine.client.create(jobs(count, make))
  }
  return {
    insertMany: (count, lane = 'a') => create(count, () => jobOf(lane)),
    insertOne: (lane = 'a') => create(1, () => jobOf(lane)),
    work: async onStart => {
      engine.handlers.set('noop', async ({ job }) => onStart(job.spec.lane))
      engine.events.on('settled', event => settled.add(event.settled.length))
      await engine.node.start()
    },
    done: count => settled.reached(count),
    createSchedules: async (count, dueAt) => {
      const expression = cronAt(dueAt, GRID_MS)
      const trigger = {
        kind: 'cron',
        expression,
        zone: 'UTC',
        dialect: 'extended',
        dst: null,
      } as const
      const made = jobs(count, i => ({ name: `schedule ${i}`, trigger }))
      await engine.client.create(made.map(job => ({ ...job, kind: 'job' as const })))
    },
    close: async () => {
      await engine.node.stop(0)
      await engine.store.close()
    },
  }
}

export default [contender('sqlite'), contender('postgres'), contender('redis')]
