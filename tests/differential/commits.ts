// Committing what core decided: mostly as it is, sometimes stale, tampered with or held back.

import type { Change } from '../../src/core/change.ts'
import { SchedulerError } from '../../src/core/errors.ts'
import type { Job } from '../../src/core/job.ts'
import type { CommitResult } from '../../src/store/port.ts'
import type { StepKind } from '../support/invariants.ts'
import type { Asked, World } from './world.ts'

/** Runs a core function; null when it refuses or finds nothing to change. */
export function asked(
  world: World,
  name: string,
  kind: StepKind,
  decide: () => Change | null,
): Asked | null {
  try {
    const change = decide()
    if (!change) world.meet(name, 'unchanged')
    return change && { name, kind, change }
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error
    world.meet(name, 'refused')
    return null
  }
}

/** Commits a change that may be spoiled or kept for later. */
export async function submit(world: World, ask: Asked | null): Promise<CommitResult | null> {
  if (!ask) return null
  const { random } = world
  if (random.chance(0.06)) {
    world.held.push(ask)
    world.meet(ask.name, 'held')
    return null
  }
  const spoiled = random.chance(0.08) ? { ...ask, change: tampered(world, ask.change) } : ask
  const [result] = await submitAll(world, [spoiled])
  return result!
}

export async function submitAll(
  world: World,
  asks: readonly Asked[],
): Promise<readonly CommitResult[]> {
  const waitingMax = world.random.chance(0.1) ? world.random.int(1, 6) : null
  const options = { now: world.now, waitingMax }
  const before = world.jobs
  const changes = asks.map(ask => ask.change)
  const { results } = await world.all(`commit ${asks.map(ask => ask.name).join(', ')}`, store =>
    store.commit(changes, options),
  )
  for (const [i, result] of results.entries()) {
    const { name, kind, change } = asks[i]!
    world.meet(name, result)
    if (result === 'committed') world.wrote(before.get(change.job.id)!, change.job, kind, change)
  }
  return results
}

function tampered(world: World, change: Change): Change {
  const isVersion = world.random.chance(0.5)
  if (isVersion) return { ...change, expectedVersion: change.expectedVersion - 1 }
  return { ...change, token: change.token === null ? 'stolen' : null }
}

/** A change kept since some steps: conflicts or is missing, unless nothing happened since. */
export async function commitHeld(world: World): Promise<void> {
  const [ask] = world.held.splice(world.random.int(0, Math.max(0, world.held.length - 1)), 1)
  if (!ask) return
  const known = world.jobs.get(ask.change.job.id)
  const [result] = await submitAll(world, [ask])
  world.meet('held', result!)
  if (result === 'committed') markIfBegun(world, ask, known!)
}

function markIfBegun(world: World, ask: Asked, before: Job): void {
  if (ask.name === 'begin' && ask.change.job.state === 'running') world.markBegun(before)
}
