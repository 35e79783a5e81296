// The stored jobs of a label and the declared ones: what differs, and making them match.

import type { Job } from '../../../core/job.ts'
import {
  reconcile,
  type Declaration,
  type Difference,
  type Orphans,
  type Reconciliation,
} from '../../../core/declared/reconcile.ts'
import type { Also } from '../../../jobs/audit.ts'
import type { Engine } from '../../../create-engine.ts'
import { makeMatch, readDeclared } from '../../../jobs/reconciling.ts'
import { HttpProblem } from '../call/problem.ts'

const STORED_MAX = 10_000

export interface Owner {
  readonly tenant: string
  readonly app: string
  readonly generation: string
  readonly orphans: Orphans
}

export async function plan(
  engine: Engine,
  declarations: readonly Declaration[],
  owner: Owner,
): Promise<Reconciliation> {
  const stored = await storedOf(engine, owner)
  const { generation, orphans } = owner
  return reconcile({ declarations, stored, generation, orphans }, engine.clock.now())
}

/** Each change with its audit entry. */
export async function apply(
  engine: Engine,
  declarations: readonly Declaration[],
  { also, ...owner }: Owner & { readonly also: Also },
): Promise<readonly Difference[]> {
  const { store, clock, settings, events, node } = engine
  const { generation, orphans } = owner
  const { waitingMax } = settings
  const { differences, jobs, removed } = await makeMatch(
    { store, clock },
    {
      declarations,
      read: () => storedOf(engine, owner),
      generation,
      orphans,
      isStrict: false,
      waitingMax,
      also,
    },
  )
  if (removed.length > 0) events.emit('removed', { ids: removed })
  if (jobs.length > 0) {
    events.emit('changed', { verb: 'declare', jobs })
    node.onChanged([...new Set(jobs.map(job => job.spec.queue))])
  }
  if (jobs.length + removed.length > 0) node.checkCancellations()
  return differences
}

async function storedOf({ store }: Engine, { tenant, app }: Owner): Promise<Job[]> {
  return readDeclared(store, { tenant, app }, count => {
    if (count <= STORED_MAX) return
    const detail = `the label ${app} owns more than ${STORED_MAX} jobs`
    throw new HttpProblem('conflict', detail)
  })
}
