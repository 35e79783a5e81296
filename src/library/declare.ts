// Start: stored jobs are made to match the declared ones, and the difference is printed.

import { refuse } from '../core/errors.ts'
import type { Declaration, Difference, Orphans } from '../core/declared/reconcile.ts'
import { checkSpec } from '../core/spec/spec-check.ts'
import { describeTrigger, type Trigger } from '../core/schedule/trigger.ts'
import type { Engine } from '../create-engine.ts'
import { makeMatch, readDeclared } from '../jobs/reconciling.ts'
import { rowId } from './identity.ts'
import type { AnyDefinition } from './options.ts'
import type { Policies } from './policies.ts'
import { declaredRows } from './rows.ts'

export interface Owner {
  readonly app: string
  readonly generation: string
  readonly orphans: Orphans
}

export function declarationsOf(
  definitions: readonly AnyDefinition[],
  defaults: Policies,
  owner: Owner,
): Declaration[] {
  const declarations = definitions.flatMap(definition =>
    declaredRows(definition, defaults).map(({ key, spec }) => {
      const identity = { app: owner.app, definition: definition.name, key }
      return {
        id: rowId({ ...identity, tenant: spec.tenant }),
        spec,
        declared: { ...identity, generation: owner.generation },
      }
    }),
  )
  refuseDeclared(declarations)
  return declarations
}

/** One error names the problems of all jobs, when more than one has any. */
function refuseDeclared(declarations: readonly Declaration[]): void {
  const bad = declarations.flatMap(({ spec, declared: { definition, key } }) => {
    const problems = checkSpec(spec)
    const place = key === 'main' ? definition : `${definition}.${key}`
    return problems.length === 0 ? [] : [{ place, problems }]
  })
  if (bad.length < 2) return
  const problems = bad.flatMap(one =>
    one.problems.map(problem => ({ ...problem, field: `${one.place}.${problem.field}` })),
  )
  refuse('SPEC_INVALID', 'the jobs are not valid', problems)
}

/**
 * Makes the stored jobs of the label match. `isWhole`: the set replaces every other at once and in
 * one step, or not at all. Otherwise jobs that other running nodes declare are left alone, and those
 * that nobody declares have a grace.
 */
export async function declare(
  engine: Engine,
  declarations: readonly Declaration[],
  owner: Owner,
  isWhole = false,
): Promise<readonly Difference[]> {
  const { store, clock, events } = engine
  const { app, generation, orphans } = owner
  const published = await engine.declarations.publish({ ...owner, declarations, isWhole })
  const { differences, jobs } = await makeMatch(
    { store, clock },
    {
      declarations,
      read: () => readDeclared(store, { app }),
      generation,
      orphans,
      undeclared: published.fateOf,
      isProducer: published.isProducer,
      isStrict: isWhole,
      also: published.also,
    },
  )
  const archived = jobs.filter(job => job.ended?.reason === 'archived')
  if (archived.length > 0) {
    events.emit('undeclared', { jobs: archived, app, as: 'archived' })
    events.emit('changed', { verb: 'archive', jobs: archived })
  }
  return differences
}

/** More jobs of a running program: nothing else of the label is touched. */
export async function declareMore(
  { store, clock }: Engine,
  declarations: readonly Declaration[],
  { app, generation }: Owner,
): Promise<void> {
  const read = () => readDeclared(store, { app })
  const given = { declarations, read, generation, orphans: 'keep', isStrict: false } as const
  await makeMatch({ store, clock }, given)
}

const marks: Readonly<Record<Difference['kind'], string>> = {
  added: '+',
  changed: '~',
  archived: '-',
  forgotten: '-',
  kept: '?',
  newer: '!',
  undeclared: '?',
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
    case 'undeclared':
      return [`${mark} declared by no running node: dropped after orphanGraceMs unless one does`]
  }
}

function text(field: string, value: unknown): string {
  return field === 'trigger' ? describeTrigger(value as Trigger) : JSON.stringify(value)
}
