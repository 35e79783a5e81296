// Things that must have happened in some world, or the simulation has tested nothing.

import type { Attempt } from '../../src/core/attempt.ts'
import type { History, Write } from './history.ts'
import { scheduleOf } from './oracle.ts'
import { attemptsOf, decisionsOf, writesByJob } from './checkers/facts.ts'

export const requiredLabels = [
  'lease expired while handler alive',
  'stale completion refused',
  'claim reply lost',
  'commit reply lost',
  'claimed with its insert',
  'two nodes raced',
  'pause raced claim',
  'cancel raced success',
  'catch-up of more than one',
  'coalesced',
  'DST gap',
  'DST fold',
  'retry after crash',
  'quarantine',
  'shutdown with a running job',
  'edit mid-run',
  'prune during run',
] as const

export type Labels = Map<string, number>

/** Counts worlds, not moments: each label at most once per history. */
export function labelsOf(history: History, noticed: ReadonlyMap<string, number>): Set<string> {
  const found = new Set(noticed.keys())
  const add = (name: (typeof requiredLabels)[number], isSeen: boolean) => {
    if (isSeen) found.add(name)
  }
  const { writes } = history
  const lost = new Map<string, Write>()
  for (const { attempt, write } of attemptsOf(writes)) {
    if (isLost(attempt)) lost.set(attempt.id, write)
  }
  add('lease expired while handler alive', outlived(history, lost))
  add(
    'stale completion refused',
    history.refusals.some(({ attempt }) => attempt && !isLost(attempt) && lost.has(attempt.id)),
  )
  add('catch-up of more than one', writes.some(isCatchUp))
  add(
    'coalesced',
    writes.some(({ skips }) => skips.some(({ reason }) => reason === 'coalesced')),
  )
  add(
    'quarantine',
    writes.some(({ after }) => after?.state === 'waiting' && after.crashes >= 5),
  )
  add(
    'edit mid-run',
    writes.some(({ verb, before }) => verb === 'edit' && before?.state === 'running'),
  )
  add('retry after crash', [...writesByJob(history).values()].some(isRetriedAfterCrash))
  for (const note of changedClocks(history)) add(note === 'gap' ? 'DST gap' : 'DST fold', true)
  return found
}

/** Its lease ended and the job was put back, whatever that counts as. */
function isLost({ outcome, reason }: Attempt): boolean {
  return outcome === 'abandoned' || reason === 'lease_lost'
}

/** The handler of an abandoned attempt went on after its lease was taken. */
function outlived(history: History, lost: ReadonlyMap<string, Write>): boolean {
  return history.witness.some(one => {
    const write = lost.get(one.attemptId)
    if (!write) return false
    const life = history.lives.find(({ node, life: n }) => node === one.node && n === one.life)
    return (one.endedAt ?? Infinity) > write.at && (life?.endedAt ?? Infinity) > write.at
  })
}

function isCatchUp({ before, after, verb }: Write): boolean {
  if (!before || !after || verb !== null || after.spec.missed.policy !== 'all') return false
  const isDetached = after.counters.concluded - before.counters.concluded > 1
  return isDetached || (before.backlog === 0 && after.backlog > 1 && after.state === 'running')
}

function isRetriedAfterCrash(writes: readonly Write[]): boolean {
  const all = attemptsOf(writes).map(({ attempt }) => attempt)
  return all.some(
    (attempt, i) => i > 0 && all[i - 1]!.outcome === 'abandoned' && all[i - 1]!.run === attempt.run,
  )
}

/** Decisions about moments that a change of the clocks shifted or repeated. */
function changedClocks(history: History): Set<'gap' | 'fold'> {
  const found = new Set<'gap' | 'fold'>()
  for (const [jobId, writes] of writesByJob(history)) {
    const spec = writes[0]?.after?.spec
    if (spec?.trigger.kind !== 'cron') continue
    const schedule = scheduleOf(history, writes)
    for (const { from, kind } of decisionsOf(history, jobId)) {
      const note = schedule?.targets.get(from)
      if (kind === 'run' && note) found.add(note)
    }
  }
  return found
}
