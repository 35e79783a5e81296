// `/api/v1/reconcile`: the jobs a program declares, compared with the stored ones, and applied.

import { z } from 'zod'
import type { Json } from '../../core/json.ts'
import type { Difference } from '../../core/declared/reconcile.ts'
import { describeTrigger, type Trigger } from '../../core/schedule/trigger.ts'
import { auditing } from '../../jobs/audit.ts'
import { onceKept, type Answer } from '../app/idempotency.ts'
import type { AppParts, Request, Routes } from '../app/parts.ts'
import { refuseInvalid } from '../app/refusal.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf, EVERY_TENANT } from '../auth/principal.ts'
import { apply, plan } from './apply.ts'
import { declarationsOf, reconcileBody, type ReconcileBody } from './body.ts'

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

export const reconcileRoutes: Routes = (app, parts) => {
  app.route({
    method: 'POST',
    url: '/api/v1/reconcile',
    config: { access: 'admin' },
    schema: {
      tags: ['bulk'],
      summary: 'Compare declared jobs of a label with the stored ones, or make them match',
      body: reconcileBody(parts.actions),
      response: { 200: answer },
    },
    handler: async (request, reply) =>
      onceKept(request, reply, parts, () => reconciled(request, parts, request.body)),
  })
}

async function reconciled(request: Request, parts: AppParts, body: ReconcileBody): Promise<Answer> {
  const { engine } = parts
  const { app, generation, orphans, mode } = body
  const tenant = tenantFor(request, body)
  const declarations = await declarationsOf(request, body, tenant, parts)
  const owner = { tenant, app, generation, orphans }
  const also = auditing(actorOf(callerOf(request), request.ip, request.id), engine.ids)
  const differences =
    mode === 'plan'
      ? (await plan(engine, declarations, owner)).differences
      : await apply(engine, declarations, { ...owner, also })
  const view: z.output<typeof answer> = {
    app,
    tenant,
    generation,
    mode,
    declared: declarations.length,
    differences: differences.map(differenceView),
  }
  return { status: 200, body: view as unknown as Json }
}

/** One's own; who sees every tenant chooses, and says `default` by saying nothing. */
function tenantFor(request: Request, { tenant }: ReconcileBody): string {
  const own = callerOf(request).tenant
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
