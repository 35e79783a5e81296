// Carillon on each of its stores, as contenders: a real node with its default settings.

import type { SpecInput } from '../../src/core/spec.ts'
import type { Engine } from '../../src/create-engine.ts'
import { jobs, makeRig } from '../engine/rig.ts'
import {
  cronAt,
  payload,
  Tally,
  type Contender,
  type Session,
  type StoreKind,
} from './contender.ts'
import { MIXED_HANDLERS, type MixedJob } from './mixed-jobs.ts'

const durability: Readonly<Record<Exclude<StoreKind, 'memory'>, string>> = {
  sqlite: 'WAL, synchronous=FULL: every commit is on disk',
  postgres: 'fsync and synchronous_commit on: every commit is on disk',
  redis: 'append-only file, fsync every second',
}
const GRID_MS = 1_000
/** Low, normal and high. */
const MIXED_PRIORITIES = [2, 3, 4] as const

const retentionText = { history: 'default settings', nothing: 'no attempts kept' }
const keepsNothing = { retention: { attempts: 0, ageMs: 0 } }

const contender = (store: keyof typeof durability, keeps: Contender['keeps']): Contender => ({
  name: 'carillon',
  store,
  settings: `${retentionText[keeps]}, 100 slots; ${durability[store]}`,
  keeps,
  gridMs: GRID_MS,
  open: async ({ url }) => {
    const engine = await makeRig(url, { nodeId: `bench-${process.pid}` })
    return session(engine, keeps === 'nothing' ? keepsNothing : {})
  },
})

/** Each with a payload of its own, as the others have it: nothing may be gained by sharing one. */
const jobOf = (lane: string, at: number | null = null) => ({
  lane,
  payload: { lane, at, ...payload },
})

const mixedSpec = ({ handler, user, priority, payload: own }: MixedJob): Partial<SpecInput> => ({
  handler,
  lane: user,
  priority: MIXED_PRIORITIES[priority],
  payload: { ...own, values: [...own.values] },
})

function session(engine: Engine, common: Partial<SpecInput>): Session {
  const settled = new Tally()
  const create = async (count: number, make: (i: number) => Partial<SpecInput>) => {
    await engine.client.create(jobs(count, i => ({ ...make(i), ...common }), engine.clock))
  }
  return {
    insertMany: (count, lane = 'a') => create(count, () => jobOf(lane)),
    insertOne: (lane = 'a', at) => create(1, () => jobOf(lane, at)),
    insertMixed: list => create(list.length, i => mixedSpec(list[i]!)),
    work: async onStart => {
      for (const name of ['noop', ...MIXED_HANDLERS]) {
        engine.handlers.set(name, async ({ job }) => {
          const { at } = job.spec.payload as { at?: number | null }
          await onStart(job.spec.lane, at ?? undefined)
        })
      }
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

const stores = ['sqlite', 'postgres', 'redis'] as const

export default [
  ...stores.map(store => contender(store, 'history')),
  ...stores.map(store => contender(store, 'nothing')),
]
