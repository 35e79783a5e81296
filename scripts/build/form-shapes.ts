// What the dashboard's forms draw, made from the schemas the service checks requests with: a module the
// build puts in the bundle, so that a new field of a schema is a field of its form.

import type { Plugin } from 'vite'
import { z } from 'zod'
import { commandSettings } from '../../src/actions/command/settings.ts'
import { crawlSettings } from '../../src/actions/crawl/settings.ts'
import { httpSettings } from '../../src/actions/http/settings.ts'
import { Registry } from '../../src/actions/registry.ts'
import { limits } from '../../src/core/limits.ts'
import { createJob } from '../../src/core/create.ts'
import { completeSpec } from '../../src/core/spec.ts'
import {
  groupOf,
  type Group,
  type JsonSchema,
  type Shape,
} from '../../src/dashboard/forms/shape.ts'
import { jobBody } from '../../src/service/use-cases/jobs/body.ts'
import { crawlOnly } from '../../src/service/compat/crawl-jobs/flat.ts'
import { jobView } from '../../src/service/use-cases/jobs/view.ts'
import { text } from '../../src/service/use-cases/jobs/texts.ts'
import { createBody as sourceBody } from '../../src/service/use-cases/sources/view.ts'
import { createBody as workflowBody } from '../../src/service/use-cases/workflows/view.ts'
import { workflowSettings } from '../../src/workflows/action.ts'

export type FormName = 'job' | 'source' | 'workflow'

/** What the service takes for a new one. */
export function formSchemas(): Record<FormName, z.ZodType> {
  return { job: jobSchema(), source: sourceBody, workflow: workflowBody }
}

export function formShapes(): Record<FormName, Group> {
  const { job, source, workflow } = formSchemas()
  return {
    job: withInitials(shapeFrom(job), jobDefaults()),
    source: shapeFrom(source),
    workflow: shapeFrom(workflow),
  }
}

function shapeFrom(schema: z.ZodType): Group {
  return groupOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
}

/** The native form: what crawl jobs say in columns of their own is said by trigger, action and retry. */
function jobSchema(): z.ZodType {
  const flat = Object.fromEntries(crawlOnly.map(field => [field, true])) as Record<
    (typeof crawlOnly)[number],
    true
  >
  const action = z.union([
    // Documents cannot hold the schema of any JSON, which refers to itself.
    httpSettings.extend({ body: z.unknown().optional() }),
    crawlSettings,
    commandSettings,
    workflowSettings,
  ])
  // An admin of every tenant says for whom a new job is; the answer repeats it as read-only.
  const tenant = text(limits.nameLength).optional()
  return jobBody.omit(flat).extend({ action: action.optional(), tenant })
}

/** A new job as the service shows it when nothing but its trigger is given. */
function jobDefaults(): Readonly<Record<string, unknown>> {
  const spec = completeSpec({
    handler: '',
    trigger: { kind: 'interval', everyMs: 1, from: 'schedule', anchor: null },
  })
  const job = createJob({ id: '', spec }, 0)
  const {
    name: _n,
    handler: _h,
    action: _a,
    trigger: _t,
    ...rest
  } = jobView(job, new Registry(), {
    mayEdit: true,
  })
  return { ...rest, tenant: undefined }
}

/** Says at every field what it is when it is left out. */
function withInitials(group: Group, initials: Readonly<Record<string, unknown>>): Group {
  const fields = Object.entries(group.fields).map(([name, field]) => {
    const initial = initials[name]
    if (initial === undefined) return [name, field] as const
    return [name, { ...field, initial, shape: inside(field.shape, initial) }] as const
  })
  return { ...group, fields: Object.fromEntries(fields) }
}

function inside(shape: Shape, initial: unknown): Shape {
  const isObject = typeof initial === 'object' && initial !== null && !Array.isArray(initial)
  return shape.kind === 'group' && isObject ? withInitials(shape, { ...initial }) : shape
}

const MODULE = 'virtual:form-shapes'

export const formShapesModule: Plugin = {
  name: 'form-shapes',
  resolveId: id => (id === MODULE ? `\0${MODULE}` : null),
  load: id => {
    if (id !== `\0${MODULE}`) return null
    const named = Object.entries(formShapes()).map(
      ([name, shape]) => `export const ${name}Shape = ${JSON.stringify(shape)}`,
    )
    return named.join('\n')
  },
}
