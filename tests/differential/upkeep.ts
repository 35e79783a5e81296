// Operations on the store itself: time, queues, records, removal, pruning.

import { isEnded } from '../../src/core/job.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { commitHeld } from './commits.ts'
import * as control from './control.ts'
import { randomWrites } from './records.ts'
import { queues } from './specs.ts'
import * as work from './work.ts'
import type { World } from './world.ts'

export async function passTime(world: World): Promise<void> {
  world.clock.now += world.random.weighed([
    [1, 1],
    [SECOND, 3],
    [20 * SECOND, 5],
    [MINUTE, 7],
    [9 * MINUTE, 2],
    [HOUR, 1],
    [2 * DAY, 0.2],
  ])
  world.meet('time', 'passed')
}

async function pauseQueue(world: World): Promise<void> {
  const queue = world.random.pick(queues)
  const isPaused = world.random.chance(0.3)
  await world.all('setQueuePaused', store => store.setQueuePaused(queue, isPaused))
  world.meet('queue', isPaused ? 'paused' : 'resumed')
}

async function putRecords(world: World): Promise<void> {
  const { now } = world
  const writes = randomWrites(world)
  const results = await world.all('putRecords', store => store.putRecords(writes, now))
  for (const result of results) world.meet('record', result)
}

async function remove(world: World): Promise<void> {
  const job = world.pickJob()
  const ids = [...(job ? [job.id] : []), 'ghost']
  const { now, random } = world
  const options = random.chance(0.5) ? { now, records: randomWrites(world) } : undefined
  const results = await world.all('remove', store => store.remove(ids, options))
  for (const existed of results) world.meet('remove', existed ? 'existed' : 'missing')
}

async function prune(world: World): Promise<void> {
  const { random, now } = world
  const live = [...world.jobs.values()].filter(job => !isEnded(job)).map(job => job.id)
  const request = { now, limit: 1_000, endedTasksMax: random.pick([0, 0, 1, 5]) }
  const result = await world.all('prune', store => store.prune(request))
  for (const what of ['attempts', 'jobs', 'records'] as const) {
    if (result[what] > 0) world.meet('prune', what)
  }
  const left = await world.all('get', store => store.get(live))
  if (left.length !== live.length) throw new Error(`${world.where}: prune took a live job`)
}

/** One operation that finds something to do. */
export async function operate(world: World): Promise<string> {
  for (;;) {
    const before = world.count
    const operation = world.random.weighed(operations)
    await operation(world)
    if (world.count > before) return operation.name
  }
}

/** What may happen next, and how often. */
const operations: readonly (readonly [(world: World) => Promise<void>, number])[] = [
  [work.insert, 3],
  [work.insertAndClaim, 2],
  [work.claim, 10],
  [work.beginOne, 20],
  [work.settleSome, 14],
  [work.release, 1],
  [work.sweep, 4],
  [work.renew, 3],
  [work.report, 3],
  [passTime, 10],
  [control.pause, 3],
  [control.resume, 3],
  [control.cancel, 1],
  [control.retry, 3],
  [control.edit, 4],
  [control.run, 4],
  [control.rerun, 2],
  [control.backfill, 2],
  [control.stopRun, 2],
  [control.archive, 1],
  [control.revive, 3],
  [commitHeld, 3],
  [pauseQueue, 1],
  [putRecords, 2],
  [remove, 0.5],
  [prune, 1],
]
