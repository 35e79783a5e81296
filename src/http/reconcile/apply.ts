// Makes the stored jobs of a label match the declared ones, each change with its audit entry.

import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import {
  reconcile,
  type Declaration,
  type Difference,
  type Orphans,
  type Reconciliation,
} from '../../core/reconcile.ts'
import type { Also } from '../../engine/audit.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Page } from '../../store/store.ts'
import { HttpProblem } from '../app/problem.ts'

/** Rounds against others who change the same jobs at the same moment. */
const ROUNDS_MAX = 10
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

/** Until nobody else changed anything in between; tells what was done by this call. */
export async function apply(
  engine: Engine,
  declarations: readonly Declaration[],
  { also, ...owner }: Owner & { readonly also: Also },
): Promise<readonly Difference[]> {
  const seen = new Map<string, Difference>()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const made = await plan(engine, declarations, owner)
    const lost = await write(engine, made, also)
    for (const difference of made.differences) {
      if (!lost.has(difference.id)) seen.set(difference.id, difference)
    }
    if (lost.size === 0) return [...seen.values()]
  }
  throw new SchedulerError('REVISION_CONFLICT', 'the declared jobs are being changed elsewhere')
}

/** The ids of those that someone else wrote first. */
async function write(engine: Engine, made: Reconciliation, also: Also): Promise<Set<string>> {
  const { store, clock, settings, events, node } = engine
  const now = clock.now()
  const { waitingMax } = settings
  const deed = { before: null, after: null, runId: null, now }
  const records = made.inserts.flatMap(job => also({ ...deed, verb: 'declare', after: job }))
  const inserted =
    made.inserts.length === 0 ? [] : await store.insert(made.inserts, { now, waitingMax, records })
  if (inserted.includes('full')) {
    throw new SchedulerError('QUEUE_FULL', 'a queue of the declared jobs is full')
  }
  const changes = made.changes.map(change => ({
    ...change,
    records: [...change.records, ...also({ ...deed, verb: 'declare', after: change.job })],
  }))
  const committed = changes.length === 0 ? [] : await store.commit(changes, { now, waitingMax })
  if (made.removes.length > 0) {
    const gone = await store.get(made.removes)
    const written = gone.flatMap(job => also({ ...deed, verb: 'forget', before: job }))
    await store.remove(made.removes, { now, records: written })
    events.emit('removed', { ids: made.removes })
  }
  const jobs = [...made.inserts, ...changes.map(({ job }) => job)]
  if (jobs.length > 0) {
    events.emit('changed', { verb: 'declare', jobs })
    node.notice([...new Set(jobs.map(job => job.spec.queue))])
    node.lookNow()
  }
  return new Set([
    ...made.inserts.filter((_, i) => inserted[i] !== 'inserted').map(({ id }) => id),
    ...changes.filter((_, i) => committed[i] !== 'committed').map(({ job }) => job.id),
  ])
}

async function storedOf({ store }: Engine, { tenant, app }: Owner): Promise<Job[]> {
  const jobs: Job[] = []
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list({ tenant, app }, { limit: limits.pageMax, cursor })
    jobs.push(...page.items)
    cursor = page.cursor
    if (jobs.length > STORED_MAX) {
      const detail = `the label ${app} owns more than ${STORED_MAX} jobs`
      throw new HttpProblem('conflict', detail)
    }
  } while (cursor !== null)
  return jobs
}
