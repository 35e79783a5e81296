// Random questions to every store: filters, offsets, what is ahead, how many there are.

import type { OutcomeKind } from '../../src/core/attempt.ts'
import type { Job, State } from '../../src/core/job.ts'
import { MINUTE } from '../../src/core/time.ts'
import type { AttemptFilter, JobFilter, PageRequest } from '../../src/store/port.ts'
import { readAll } from '../support/builders.ts'
import type { Random } from '../support/random.ts'
import { handlers, queues, tenants } from './specs.ts'
import type { World } from './world.ts'

const states: readonly State[] = [
  'waiting',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
]
const outcomes: readonly OutcomeKind[] = ['succeeded', 'failed', 'abandoned', 'cancelled']

export async function askAll(world: World): Promise<void> {
  const { random } = world
  const read = { limit: random.int(1, 7), newestFirst: random.chance(0.5) }
  await world.all('tenants', store => readAll(page => store.tenants(page), read))
  for (let i = 0; i < 3; i++) {
    await askJobs(world, jobFilter(world), read)
    await askJobs(world, statusFilter(world), read)
    await askAttempts(world, read)
    await askUpcoming(world)
  }
}

async function askJobs(world: World, filter: JobFilter, read: PageRequest): Promise<void> {
  const max = world.random.int(0, 9)
  const page = { ...read, offset: world.random.int(0, 6) }
  const what = JSON.stringify(filter)
  const jobs = await world.all(`list ${what}`, store => readAll(p => store.list(filter, p), read))
  await world.all(`page of list ${what}`, async store => idsOf(await store.list(filter, page)))
  const count = await world.all(`count ${what}`, store => store.count(filter, max))
  if (count !== Math.min(jobs.length, max)) {
    throw new Error(`${world.where}: count ${what} is ${count} of ${jobs.length}, up to ${max}`)
  }
  world.meet('jobs by filter', jobs.length === 0 ? 'none' : 'some')
}

function idsOf(page: { items: readonly Job[]; cursor: string | null }) {
  return { ids: page.items.map(job => job.id), isLast: page.cursor === null }
}

async function askAttempts(world: World, read: PageRequest): Promise<void> {
  const filter = attemptFilter(world)
  const page = { ...read, offset: world.random.int(0, 6) }
  const what = JSON.stringify(filter)
  const found = await world.all(`attempts ${what}`, store =>
    readAll(p => store.attempts(filter, p), read),
  )
  await world.all(`page of attempts ${what}`, async store => {
    return (await store.attempts(filter, page)).items.map(attempt => attempt.id)
  })
  world.meet('attempts by filter', found.length === 0 ? 'none' : 'some')
}

async function askUpcoming(world: World): Promise<void> {
  const { random, now } = world
  const from = now + random.int(-5, 2) * MINUTE
  const request = {
    from,
    until: from + random.int(0, 20) * MINUTE,
    limit: random.int(1, 9),
    ...maybe(random, 'tenant', tenants),
    ...maybe(random, 'queue', queues),
  }
  const found = await world.all(`upcoming ${JSON.stringify(request)}`, store =>
    store.upcoming(request),
  )
  const { limit: _, ...window } = request
  const widthMs = random.int(1, 5) * MINUTE
  const kind = maybe(random, 'kind', ['job', 'task'] as const, 0.4)
  await world.all(`due ${JSON.stringify(window)}`, store =>
    store.countDue({ ...window, ...kind, widthMs }),
  )
  const offset = random.int(0, 3)
  await world.all(`upcoming from ${offset}`, async store =>
    (await store.upcoming({ ...request, ...kind, offset })).map(job => job.id),
  )
  world.meet('upcoming', found.length === 0 ? 'none' : 'some')
}

function jobFilter(world: World): JobFilter {
  const { random } = world
  const known = world.pickJob()
  return {
    ...maybe(random, 'kind', ['job', 'task'] as const, 0.2),
    ...maybe(random, 'states', [[random.pick(states), random.pick(states)]], 0.4),
    ...maybe(random, 'tenant', tenants, 0.5),
    ...maybe(random, 'queue', queues, 0.3),
    ...maybe(random, 'handler', handlers, 0.2),
    ...maybe(random, 'seriesId', ['series'], 0.1),
    ...maybe(random, 'search', ['JOB', 'job 1', '2', known?.id.toUpperCase() ?? 'none'], 0.3),
  }
}

/** As lists by status ask: stores keep these apart from the others. */
function statusFilter({ random }: World): JobFilter {
  return {
    kind: 'job',
    states: [random.pick(states), random.pick(states)],
    ...maybe(random, 'isUnstarted', [true, false], 0.5),
    ...maybe(random, 'tenant', tenants, 0.5),
    ...maybe(random, 'queue', queues, 0.2),
  }
}

function attemptFilter(world: World): AttemptFilter {
  const { random, now } = world
  const known = world.pickJob()
  return {
    ...maybe(random, 'jobId', [known?.id ?? 'ghost'], 0.2),
    ...maybe(random, 'run', [1, 2], 0.2),
    ...maybe(random, 'outcomes', [[random.pick(outcomes), random.pick(outcomes)]], 0.3),
    ...maybe(random, 'tenant', tenants, 0.4),
    ...maybe(random, 'queue', queues, 0.2),
    ...maybe(random, 'handler', handlers, 0.2),
    ...maybe(random, 'seriesId', ['series', known?.id ?? 'ghost'], 0.1),
    ...maybe(random, 'since', [now - 20 * MINUTE, now - MINUTE], 0.3),
    ...maybe(random, 'until', [now, now - 5 * MINUTE], 0.2),
  }
}

/** The field with one of the values, or without it. */
function maybe<K extends string, V>(
  random: Random,
  key: K,
  values: readonly V[],
  share = 0.3,
): { [P in K]?: V } {
  return random.chance(share) ? ({ [key]: random.pick(values) } as { [P in K]: V }) : {}
}
