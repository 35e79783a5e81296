// Every field that the service takes when something is created or edited is on its form: the schemas are
// walked here on their own, and the forms are drawn for every alternative a schema allows.

import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { formSchemas, formShapes } from '../../../scripts/build/form-shapes.ts'
import { patchBody as sourcePatch } from '../../service/use-cases/sources/view.ts'
import { patchBody as workflowPatch } from '../../service/use-cases/workflows/view.ts'
import type { FormKind } from './form-kind.ts'
import type { Fields } from './form-values.ts'
import type { JsonSchema } from './shape.ts'
import { loadForms } from './testing.ts'

let forms: Awaited<ReturnType<typeof loadForms>>

beforeAll(async () => {
  forms = await loadForms()
})

function draw(kind: FormKind, document: Fields, isNew: boolean): string {
  const root = kind.formOf(document)
  const form = { layout: kind.layout, problem: null, isNew, root }
  return render(h(forms.SchemaForm, { kind, form, set: () => {} }))
}

describe.each(['job', 'source', 'workflow'] as const)('the form of a %s', name => {
  const asJson = (schema: z.ZodType) =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const create = asJson(formSchemas()[name])
  const drawn = (isNew: boolean) => {
    const kind = forms.kinds[name](formShapes()[name])
    const all = samples(create, create) as readonly Fields[]
    return new Set(all.flatMap(document => fieldNames(draw(kind, document, isNew))))
  }

  it('has a field for everything a new one takes', () => {
    const writable = leaves(create, create, '')
    const shown = drawn(true)
    expect(writable.length).toBeGreaterThan(15)
    expect(writable.filter(path => !shown.has(path))).toEqual([])
  })

  it('has a field for everything an edit takes, but what it is known by', () => {
    const patches = { job: formSchemas().job, source: sourcePatch, workflow: workflowPatch }
    const patch = asJson(patches[name])
    const shown = drawn(false)
    const missing = leaves(patch, patch, '').filter(path => !shown.has(path))
    expect(missing).toEqual({ job: ['tenant'], source: ['name'], workflow: [] }[name])
  })

  it('shows a field that the schema gets, where it is looked for first', () => {
    const schema = formShapes()[name]
    const colour = {
      shape: { kind: 'choice', options: ['red', 'blue'] },
      isRequired: false,
      isNullable: false,
      help: 'Seen from afar.',
    } as const
    const kind = forms.kinds[name]({
      ...schema,
      fields: { ...schema.fields, paint_colour: colour },
    })
    const html = draw(kind, { steps: [] }, true)
    expect(html).toMatch(
      /<legend>Other settings<\/legend>.*Paint colour.*name="paint_colour".*blue/s,
    )
    expect(html).toContain('Seen from afar.')
    expect(kind.bodyOf(kind.formOf({ steps: [], paint_colour: 'blue' }))).toMatchObject({
      paint_colour: 'blue',
    })
  })
})

/** Names of inputs, with `*` for the number or the name of a row. */
function fieldNames(html: string): string[] {
  const names = [...html.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name!)
  return names.map(name => name.replaceAll(/\.(?:\d+|sample)(?=\.|$)/g, '.*'))
}

const alternatives = (schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] => {
  const { $ref, ...beside } = schema
  if ($ref !== undefined) return alternatives({ ...root.$defs![$ref.slice(8)]!, ...beside }, root)
  const some = schema.anyOf ?? schema.oneOf
  return some === undefined ? [schema] : some.flatMap(one => alternatives(one, root))
}

const isConstant = (schema: JsonSchema) => schema.const !== undefined || schema.enum?.length === 1

/** Paths of everything a person can say. */
function leaves(schema: JsonSchema, root: JsonSchema, path: string): string[] {
  const found = alternatives(schema, root).flatMap(one => {
    if (one.readOnly === true || isConstant(one) || one.type === 'null') return []
    const inside = Object.entries(one.properties ?? {}).flatMap(([name, inner]) =>
      leaves(inner, root, path === '' ? name : `${path}.${name}`),
    )
    if (one.properties !== undefined) return inside
    const { items, additionalProperties: others } = one
    const row = items ?? (typeof others === 'object' ? others : {})
    const isStructured = alternatives(row, root).some(inner => inner.properties !== undefined)
    const isMap = typeof others === 'object' && Object.keys(others).length > 0
    return (isStructured && path !== 'action.secrets' && !path.endsWith('http.secrets')) || isMap
      ? leaves(row, root, `${path}.*`)
      : [path]
  })
  return [...new Set(found)]
}

/** Documents that together choose every alternative once. */
function samples(schema: JsonSchema, root: JsonSchema): readonly unknown[] {
  return alternatives(schema, root).flatMap((one): readonly unknown[] => {
    if (one.type === 'null') return []
    if (one.const !== undefined) return [one.const]
    if (one.enum !== undefined) return one.enum.slice(0, 1)
    // What is named in a list is something else.
    if (one.type === 'array') {
      return samples(one.items ?? {}, root).map(item => [item === 'x' ? 'other' : item])
    }
    if (one.properties !== undefined) return objects(one, root)
    const { additionalProperties: others } = one
    if (typeof others === 'object' && Object.keys(others).length > 0) {
      return samples(others, root).map(value => ({ sample: value }))
    }
    if (one.type === 'string') return [one.format === 'date-time' ? '2027-01-31T09:00:00Z' : 'x']
    if (one.type === 'boolean') return [true]
    return one.type === undefined ? ['x'] : [one.minimum ?? 1]
  })
}

/** One with everything, and each alternative of each field with what is required beside it. */
function objects({ properties = {}, required = [] }: JsonSchema, root: JsonSchema): object[] {
  const options = Object.entries(properties)
    .filter(([, schema]) => schema.readOnly !== true)
    .map(([name, schema]) => [name, samples(schema, root)] as const)
  const first = options.map(([name, all]) => [name, all[0]] as const)
  const least = Object.fromEntries(first.filter(([name]) => required.includes(name)))
  const others = options.flatMap(([name, all]) => all.map(value => ({ ...least, [name]: value })))
  return [Object.fromEntries(first), ...others]
}
