// What people do to jobs while everything goes on, each call logged as invoked and as answered.

import { SchedulerError } from '../../src/core/errors.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import type { Client } from '../../src/jobs/client.ts'
import type { Rows } from '../../src/store/memory/rows.ts'
import type { ClientCall } from './history.ts'
import type { Deed } from './plan.ts'
import type { Random } from './random.ts'
import type { SimNode, Surroundings } from './sim-node.ts'

const AGAIN_MS = 700

export interface Scene {
  readonly around: Surroundings
  readonly nodes: readonly SimNode[]
  readonly rows: Rows
  readonly random: Random
}

const AIM_MS = 40
const AIMS_MAX = 200

/** Holds a deed back until its job runs, for a while. */
export function aim(scene: Scene, deed: Deed, tries = 0): void {
  const { around, rows } = scene
  const isRunning = rows.jobs.get(deed.jobId)?.job.state === 'running'
  const isLate = around.world.now() + AIM_MS >= around.plan.quietAt
  if (!deed.aims || isRunning || isLate || tries >= AIMS_MAX) perform(scene, deed)
  else around.world.after(AIM_MS, () => aim(scene, deed, tries + 1))
}

/** Tries again later while no node is there; a create also when nobody knows whether it happened. */
export function perform(scene: Scene, deed: Deed): void {
  const { around, nodes, random } = scene
  const { world, recorder, plan } = around
  const again = () => {
    if (world.now() + AGAIN_MS < plan.quietAt) world.after(AGAIN_MS, () => perform(scene, deed))
  }
  const open = nodes.flatMap(node => {
    const access = node.client(deed.verb)
    return access ? [{ node, access }] : []
  })
  if (open.length === 0) {
    if (deed.verb === 'create') again()
    return
  }
  const { node, access } = random.pick(open)
  const call: ClientCall = {
    verb: deed.verb,
    jobId: deed.jobId,
    node: node.id,
    invokedAt: world.now(),
    endedAt: null,
    result: 'info',
    detail: '',
    spec: deed.verb === 'create' ? completeSpec(deed.patch as SpecInput) : null,
    runId: null,
  }
  recorder.client.push(call)
  const ended = (result: ClientCall['result'], detail: string) => {
    call.endedAt = world.now()
    call.result = result
    call.detail = detail
    recorder.line(`${node.id} ${deed.verb} ${deed.jobId} answered ${result} ${detail}`)
    if (result !== 'ok' && deed.verb === 'create') again()
  }
  void answered(act(scene, deed, access.client, access.now()), { deed, call, ended })
}

interface Answer {
  readonly deed: Deed
  readonly call: ClientCall
  readonly ended: (result: ClientCall['result'], detail: string) => void
}

async function answered(work: Promise<string>, { deed, call, ended }: Answer): Promise<void> {
  try {
    const detail = await work
    if (deed.verb.includes('run') || deed.verb === 'backfill') call.runId = detail
    ended('ok', detail)
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error
    ended(error.code === 'STORE_UNAVAILABLE' ? 'info' : 'fail', error.code)
  }
}

async function act(scene: Scene, deed: Deed, client: Client, now: number): Promise<string> {
  const { jobId: id, patch } = deed
  switch (deed.verb) {
    case 'create': {
      const [made] = await client.create([{ id, spec: completeSpec(patch as SpecInput) }])
      return made!.result
    }
    case 'edit':
      return `revision ${(await client.edit(id, spec => ({ ...spec, ...patch }))).revision}`
    case 'pause':
      return (await client.pause(id)).state
    case 'pause until':
      return (await client.pause(id, { until: now + deed.forMs })).state
    case 'resume':
      return (await client.resume(id)).state
    case 'cancel':
      return (await client.cancel(id)).state
    case 'cancel run':
      return (await client.cancelRun(latestRun(scene, id))).state
    case 'run':
      return client.run(id)
    case 'retry':
      return (await client.retry(id)).state
    case 'retry run':
      return client.retryRun(latestRun(scene, id))
    case 'backfill':
      return (await client.backfill(id, { from: now - deed.forMs, to: now - 1 })).runId
    case 'remove':
      return String((await client.remove([id]))[0])
  }
}

/** The run in service, or the last one. */
function latestRun({ rows, random }: Scene, id: string): string {
  const job = rows.jobs.get(id)?.job
  const isOpen = job?.state === 'running' && job.current.run === 0
  const runs = (job?.counters.runs ?? 0) + (isOpen ? 1 : 0)
  return `${id}.${Math.max(1, runs - (random.chance(0.2) ? 1 : 0))}`
}
