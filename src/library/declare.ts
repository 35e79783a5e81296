// Start: stored jobs are made to match the declared ones, and the difference is printed.

import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { reconcile, type Declaration, type Difference, type Orphans } from '../core/reconcile.ts'
import { describeTrigger, type Trigger } from '../core/trigger.ts'
import type { Engine } from '../engine/engine.ts'
import type { Page } from '../store/store.ts'
import { rowId } from './identity.ts'
import type { AnyDefinition } from './options.ts'
import type { Policies } from './policies.ts'
import { declaredRows } from './rows.ts'

export interface Owner {
  readonly app: string
  readonly generation: string
  readonly orphans: Orphans
}

/** Rounds against other nodes that start with the same declarations at the same moment. */
const ROUNDS_MAX = 10

export function declarationsOf(
  definitions: readonly AnyDefinition[],
  defaults: Policies,
  owner: Owner,
): Declaration[] {
  return definitions.flatMap(definition =>
    declaredRows(definition, defaults).map(({ key, spec }) => {
      const identity = { app: owner.app, definition: definition.name, key }
      return {
        id: rowId({ ...identity, tenant: spec.tenant }),
        spec,
        declared: { ...identity, generation: owner.generation },
      }
    }),
  )
}

/** Until nobody else changed anything in between. */
export async function declare(
  engine: Engine,
  declarations: readonly Declaration[],
  owner: Owner,
): Promise<readonly Difference[]> {
  const { store, clock } = engine
  const seen = new Map<string, Difference>()
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const stored = await storedOf(engine, owner.app)
    const now = clock.now()
    const { generation, orphans } = owner
    const plan = reconcile({ declarations, stored, generation, orphans }, now)
    const inserted = plan.inserts.length === 0 ? [] : await store.insert(plan.inserts, { now })
    const committed = plan.changes.length === 0 ? [] : await store.commit(plan.changes, { now })
    if (plan.removes.length > 0) await store.remove(plan.removes)
    for (const difference of plan.differences) {
      const at = plan.inserts.findIndex(job => job.id === difference.id)
      if (at < 0 || inserted[at] === 'inserted') seen.set(difference.id, difference)
    }
    if (committed.every(result => result === 'committed')) return [...seen.values()]
  }
  throw new SchedulerError('REVISION_CONFLICT', 'the declared jobs are being changed elsewhere')
}

async function storedOf(engine: Engine, app: string): Promise<Job[]> {
  const jobs: Job[] = []
  let cursor: string | null = null
  do {
    const page: Page<Job> = await engine.store.list({ app }, { limit: limits.pageMax, cursor })
    jobs.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return jobs
}

const marks: Readonly<Record<Difference['kind'], string>> = {
  added: '+',
  changed: '~',
  archived: '-',
  forgotten: '-',
  kept: '?',
  newer: '!',
}

/** Nothing when nothing changed. */
export function describeDifferences(
  declared: number,
  differences: readonly Difference[],
  owner: Owner,
): string[] {
  if (differences.length === 0) return []
  const sums = (Object.keys(marks) as Difference['kind'][])
    .map(kind => ({ kind, count: differences.filter(one => one.kind === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`)
  const generation = owner.generation === '' ? '' : `  (generation ${owner.generation})`
  const head = `carillon: ${declared} declared, ${sums.join(', ')}${generation}`
  return [head, ...differences.flatMap(describeOne)]
}

function describeOne({ kind, name, schedule, fields }: Difference): string[] {
  const mark = `  ${marks[kind]} ${name.padEnd(16)}`
  switch (kind) {
    case 'added':
      return [`${mark} ${schedule}`]
    case 'changed':
      return fields.map(
        ({ field, from, to }) => `${mark} ${field}  ${text(field, from)}  →  ${text(field, to)}`,
      )
    case 'archived':
      return [`${mark} no longer declared: archived, will not fire`]
    case 'forgotten':
      return [`${mark} no longer declared: forgotten`]
    case 'kept':
      return [`${mark} no longer declared: kept`]
    case 'newer':
      return [`${mark} declared by a newer generation: left alone`]
  }
}

function text(field: string, value: unknown): string {
  return field === 'trigger' ? describeTrigger(value as Trigger) : JSON.stringify(value)
}
