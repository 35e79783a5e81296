// The jobs a program declares, compared with the stored ones, and applied.

import { z } from 'zod'
import type { Difference } from '../../../core/declared/reconcile.ts'
import { describeTrigger, type Trigger } from '../../../core/schedule/trigger.ts'
import { auditOf } from '../call/client.ts'
import type { Call } from '../call/call.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import { apply, plan } from './apply.ts'
import { declarationsOf, jobProblems, reconcileBody, type ReconcileBody } from './body.ts'
import { useCase } from '../call/use-case.ts'

export const answer = z
  .strictObject({
    app: z.string(),
    tenant: z.string(),
    generation: z.string(),
    mode: z.enum(['plan', 'apply']),
    declared: z.int(),
    differences: z.array(
      z.strictObject({
        kind: z.enum(['added', 'changed', 'archived', 'forgotten', 'kept', 'newer']),
        id: z.string(),
        name: z.string(),
        schedule: z.string(),
        fields: z.array(z.strictObject({ field: z.string(), from: z.unknown(), to: z.unknown() })),
      }),
    ),
  })
  .meta({ id: 'Reconciliation', description: 'Nothing differs when differences is empty.' })

export const reconcile = useCase({
  access: 'admin',
  body: reconcileBody,
  check: jobProblems,
  result: answer,
  keeps: true,
  handle: async call => {
    const { engine, body } = call
    const { app, generation, orphans, mode } = body
    const tenant = tenantFor(call, body)
    const declarations = await declarationsOf(call, body, tenant)
    const owner = { tenant, app, generation, orphans }
    const differences =
      mode === 'plan'
        ? (await plan(engine, declarations, owner)).differences
        : await apply(engine, declarations, { ...owner, also: auditOf(call) })
    return {
      app,
      tenant,
      generation,
      mode,
      declared: declarations.length,
      differences: differences.map(differenceView),
    }
  },
})

/** One's own; who sees every tenant chooses, and says `default` by saying nothing. */
function tenantFor(call: Call, { tenant }: ReconcileBody): string {
  const own = call.caller.tenant
  if (own === EVERY_TENANT) return tenant ?? 'default'
  const problem = { field: 'tenant', value: tenant, rule: 'is given by the token' }
  refuseInvalid('native', tenant === undefined || tenant === own ? [] : [problem])
  return own
}

function differenceView({ kind, id, name, schedule, fields }: Difference) {
  return {
    // Here every job that is not declared is dropped or kept at once.
    kind: kind === 'undeclared' ? ('kept' as const) : kind,
    id,
    name,
    schedule,
    fields: fields.map(({ field, from, to }) => ({
      field,
      from: shown(field, from),
      to: shown(field, to),
    })),
  }
}

/** Payloads hold the settings of actions, and those may hold secrets. */
function shown(field: string, value: unknown): unknown {
  if (field === 'payload') return '***'
  return field === 'trigger' ? describeTrigger(value as Trigger) : value
}
