// A kind of document with its form: what the schema says, laid out by a table.

import type { FieldProblem } from '../data/problem.ts'
import { groupDraft, groupValue, type GroupDraft } from './draft.ts'
import type { Fields } from './form-values.ts'
import { completed, laidOut, placesIn, type FormContext, type Layout } from './layout.ts'
import type { Group } from './shape.ts'

export interface FormKind {
  readonly shape: Group
  readonly layout: Layout
  /** Takes whatever a text says; what the schema does not know is kept. */
  readonly formOf: (document: Fields) => GroupDraft
  /** What is sent; whether it is right is for the service to say. */
  readonly bodyOf: (form: GroupDraft) => Fields
}

export function formKind(schema: Group, table: Layout): FormKind {
  const layout = completed(table, schema)
  const shape = laidOut(schema, layout)
  return {
    shape,
    layout,
    formOf: document => groupDraft(shape, document),
    bodyOf: form => groupValue(shape, form),
  }
}

/** What people say in an answer of the service, without what the service adds. */
export function documentIn({ shape }: FormKind, answer: object): Fields {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => name in shape.fields))
}

export const placesOf = ({ shape }: FormKind, form: FormContext) =>
  placesIn(shape, form.root, '', form)

/** Of two rows with one name only one would be sent. */
export function repeatedNames(kind: FormKind, root: GroupDraft): readonly FieldProblem[] {
  const { fields } = placesOf(kind, { layout: kind.layout, root, problem: null, isNew: true })
  const twice = fields.filter((field, at) => fields.indexOf(field) < at)
  return twice.map(field => ({ field, value: null, rule: 'is there twice', is_name: true }))
}
