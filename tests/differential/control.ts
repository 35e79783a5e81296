// Operations of people: pause, resume, cancel, retry, edit, run, backfill, archive, revive.

import { archiveJob, cancelJob, cancelRun, retryJob } from '../../src/core/control/control.ts'
import { editJob, reviveJob } from '../../src/core/control/edit.ts'
import { isEnded, type Job } from '../../src/core/job.ts'
import { pauseJob, resumeJob } from '../../src/core/control/pause.ts'
import { requestBackfill, requestRetry, requestRun } from '../../src/core/control/requests.ts'
import { currentRunOf } from '../../src/core/run/current-run.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import { MINUTE } from '../../src/core/time.ts'
import { asked, submit } from './commits.ts'
import { randomSpec } from './specs.ts'
import type { World } from './world.ts'

export async function pause(world: World): Promise<void> {
  const { random, now } = world
  const job = world.pickJob(held => held.state === 'waiting' || held.state === 'running')
  if (!job) return
  const until = random.chance(0.5) ? now + random.int(1, 5 * MINUTE) : null
  const change = () => pauseJob(job, { until, note: random.pick([null, 'ö']) }, now)
  await submit(world, asked(world, 'pause', 'control', change))
}

export async function resume(world: World): Promise<void> {
  const job = world.pickJob(held => held.state === 'paused' || held.pauseAsked !== null)
  if (!job) return
  const change = () => resumeJob(job, world.now)
  await submit(world, asked(world, 'resume', 'control', change))
}

export async function cancel(world: World): Promise<void> {
  const job = world.pickJob(held => !isEnded(held))
  if (!job) return
  const change = () => cancelJob(job, 'enough', world.now)
  await submit(world, asked(world, 'cancel', 'control', change))
}

export async function retry(world: World): Promise<void> {
  const job = world.pickJob(held => held.state === 'failed')
  if (!job) return
  const change = () => retryJob(job, world.now)
  await submit(world, asked(world, 'retry', 'control', change))
}

export async function edit(world: World): Promise<void> {
  const job = world.pickJob()
  if (!job) return
  const spec = editedSpec(world, job)
  const change = () => editJob(job, spec, world.now)
  await submit(world, asked(world, 'edit', 'edit', change))
}

function editedSpec({ random, now }: World, job: Job): JobSpec {
  const drawn = randomSpec(random, now)
  const fields = random.pick([
    { trigger: drawn.trigger },
    { queue: drawn.queue, lane: drawn.lane, priority: drawn.priority },
    { payload: drawn.payload, name: drawn.name, tags: drawn.tags },
    { endAt: drawn.endAt, runLimit: drawn.runLimit },
    { overlap: drawn.overlap, missed: drawn.missed },
    { retry: drawn.retry },
    {},
  ])
  return random.chance(0.3) ? drawn : { ...job.spec, ...fields }
}

export async function run(world: World): Promise<void> {
  const { random, now } = world
  const job = world.pickJob()
  if (!job) return
  const payload = random.pick([undefined, null, { asked: true }])
  const input = { id: world.ids.token(), ...(payload === undefined ? {} : { payload }) }
  const change = () => requestRun(job, input, now).change
  await submit(world, asked(world, 'run', 'control', change))
}

export async function rerun(world: World): Promise<void> {
  const job = world.pickJob(held => (world.history.get(held.id)?.attempts.length ?? 0) > 0)
  if (!job) return
  const old = world.random.pick(world.history.get(job.id)!.attempts)
  const change = () => requestRetry(job, old, world.ids.token(), world.now).change
  await submit(world, asked(world, 'rerun', 'control', change))
}

export async function backfill(world: World): Promise<void> {
  const { random, now } = world
  const job = world.pickJob()
  if (!job) return
  const input = { id: world.ids.token(), from: now - random.int(0, 10) * MINUTE, to: now }
  const change = () => requestBackfill(job, input, now).change
  await submit(world, asked(world, 'backfill', 'control', change))
}

export async function stopRun(world: World): Promise<void> {
  const job = world.pickJob(
    held => held.state === 'running' || held.current.run > 0 || held.requests.length > 0,
  )
  if (!job) return
  const runs = [job.current.run, ...job.requests.map(request => request.run)]
  if (job.state === 'running') runs.push(currentRunOf(job).run.run)
  const numbers = runs.filter(given => given > 0)
  if (numbers.length === 0) return
  const number = world.random.pick(numbers)
  const kind = job.state === 'running' ? 'settle' : 'control'
  const change = () => cancelRun(job, number, { reason: 'enough' }, world.now)
  await submit(world, asked(world, 'cancel run', kind, change))
}

export async function archive(world: World): Promise<void> {
  const job = world.pickJob(
    held => held.declared !== null && held.ended?.reason !== 'archived' && held.kind === 'job',
  )
  if (!job) return
  const change = () => archiveJob(job, world.now)
  await submit(world, asked(world, 'archive', 'archive', change))
}

/** With a schedule from now on, as a one-off of the past would repeat its occurrence. */
export async function revive(world: World): Promise<void> {
  const job = world.pickJob(held => held.ended?.reason === 'archived' && held.declared !== null)
  if (!job) return
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  const { retention, queue, handler } = job.spec
  const drawn = randomSpec(world.random, world.now)
  const { name, lane, payload, priority } = drawn
  const base = { name, lane, payload, priority, retention, queue, handler, trigger }
  const spec: JobSpec = { ...plainSpec(drawn), ...base }
  const change = () => reviveJob(job, spec, job.declared!, world.now)
  await submit(world, asked(world, 'revive', 'revive', change))
}

/** The same spec without what contradicts a plain interval. */
function plainSpec(spec: JobSpec): JobSpec {
  const overlap = { policy: 'skip' } as const
  return { ...spec, first: 'next', startAt: null, endAt: null, overlap, missed: { policy: 'once' } }
}
