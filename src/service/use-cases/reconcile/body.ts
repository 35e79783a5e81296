// The jobs a program declares under its label, and what makes each of them a spec.

import { z } from 'zod'
import { refuse, SchedulerError, type Problem } from '../../../core/errors.ts'
import type { Declaration } from '../../../core/declared/reconcile.ts'
import { limits } from '../../../core/limits.ts'
import { assertSpec } from '../../../core/spec/spec-check.ts'
import type { JobSpec } from '../../../core/spec.ts'
import { ruleOf } from '../call/client.ts'
import type { Call, Services } from '../call/call.ts'
import { HttpProblem } from '../call/problem.ts'
import { tenantPattern } from '../../auth/principal.ts'
import { jobBody } from '../jobs/body.ts'
import { text } from '../jobs/texts.ts'
import { assertHandler, createProblems, inWireNames } from '../jobs/rules.ts'
import { contextOf, newSpec } from '../jobs/spec.ts'

const JOBS_MAX = 1_000

export const reconcileBody = z
  .strictObject({
    app: text(100),
    generation: z.string().max(100).default('').meta({
      description: 'Of the declarations; an older one never overwrites what a newer one declared.',
    }),
    orphans: z
      .enum(['archive', 'forget', 'keep'])
      .default('archive')
      .meta({ description: 'What becomes of jobs of this label that are no longer declared.' }),
    mode: z.enum(['plan', 'apply']).default('plan'),
    tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
    jobs: z
      .array(
        z.strictObject({
          definition: text(limits.nameLength),
          key: text(limits.nameLength).default('main'),
          job: jobBody,
        }),
      )
      .max(JOBS_MAX),
  })
  .meta({ id: 'ReconcileBody' })

export type ReconcileBody = z.output<typeof reconcileBody>

/** The same rules as for one new job, each named by its place. */
export function jobProblems(
  { jobs }: Readonly<Record<string, unknown>>,
  { actions }: Services,
): Problem[] {
  if (!Array.isArray(jobs)) return []
  return jobs.flatMap((entry: unknown, i) => {
    const job = (entry as { job?: unknown } | null)?.job
    if (typeof job !== 'object' || job === null) return []
    return placed(createProblems(job as Record<string, unknown>, actions), i)
  })
}

function placed(problems: readonly Problem[], i: number): Problem[] {
  return problems.map(problem => ({ ...problem, field: `jobs.${i}.job.${problem.field}` }))
}

/** Rows are known by tenant, label, definition and key, as those declared in code are. */
function idOf(tenant: string, app: string, definition: string, key: string): string {
  return [tenant, app, definition, key].map(encodeURIComponent).join(':')
}

/** Throws every problem of every job at once. */
export async function declarationsOf(
  call: Call,
  body: ReconcileBody,
  tenant: string,
): Promise<Declaration[]> {
  const { app, generation } = body
  const context = contextOf(call)
  const rule = ruleOf(call)
  const stored = rule === null ? noSpecs : await storedSpecs(body, tenant, call)
  const problems: Problem[] = []
  const found = new Map<string, Declaration>()
  for (const [i, { definition, key, job }] of body.jobs.entries()) {
    const id = idOf(tenant, app, definition, key)
    if (found.has(id)) {
      const different = 'must be different for each job of a definition'
      problems.push({ field: `jobs.${i}.key`, value: key, rule: different })
      continue
    }
    try {
      await assertHandler(job, call)
      const spec = inWireNames(job, () => {
        const made = newSpec({ name: definition, ...job }, tenant, context)
        assertSpec(made)
        refuse('SPEC_INVALID', 'the job is not valid', rule?.(made, stored.get(id) ?? null) ?? [])
        return made
      })
      found.set(id, { id, spec, declared: { app, definition, key, generation } })
    } catch (error) {
      problems.push(...placed(problemsOf(error), i))
    }
  }
  if (problems.length > 0) {
    throw new HttpProblem('invalid-request', 'the declared jobs are not valid', {
      errors: problems,
    })
  }
  return [...found.values()]
}

const noSpecs: ReadonlyMap<string, JobSpec> = new Map()

/** Of those declared jobs that are there already. */
async function storedSpecs(
  { app, jobs }: ReconcileBody,
  tenant: string,
  { engine }: Services,
): Promise<ReadonlyMap<string, JobSpec>> {
  const ids = jobs.map(({ definition, key }) => idOf(tenant, app, definition, key))
  const found = new Map<string, JobSpec>()
  for (let at = 0; at < ids.length; at += limits.pageMax) {
    const held = await engine.store.get(ids.slice(at, at + limits.pageMax))
    for (const { id, spec } of held) found.set(id, spec)
  }
  return found
}

function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof HttpProblem && error.errors.length > 0) return error.errors
  if (error instanceof SchedulerError && error.problems.length > 0) return error.problems
  throw error
}
