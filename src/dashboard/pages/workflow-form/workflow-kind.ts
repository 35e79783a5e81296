// A workflow as its form holds it: what a step needs is kept by the keys of the steps, so that renaming
// one keeps what needs it.

import type { GroupDraft, RowDraft, RowsDraft } from '../../forms/draft.ts'
import { formKind, type FormKind } from '../../forms/form-kind.ts'
import type { Fields } from '../../forms/form-values.ts'
import type { Group } from '../../forms/shape.ts'
import { workflowLayout } from './layout.ts'
import { idOf, neededNames, needsOf, withNeeds } from './steps.ts'

/** What a new one begins with. */
export const newWorkflow: Fields = { trigger_nodes: [{}], steps: [{ id: 'first' }] }

export function workflowKind(schema: Group): FormKind {
  const kind = formKind(schema, workflowLayout)
  return {
    ...kind,
    formOf: document => withSteps(kind.formOf(document), keyedNeeds),
    bodyOf: form => kind.bodyOf(withSteps(form, namedNeeds)),
  }
}

function withSteps(form: GroupDraft, change: (steps: readonly RowDraft[]) => readonly RowDraft[]) {
  const steps = form.fields.steps as RowsDraft
  return { ...form, fields: { ...form.fields, steps: { ...steps, rows: change(steps.rows) } } }
}

const keyedNeeds = (steps: readonly RowDraft[]) =>
  steps.map(step =>
    withNeeds(
      step,
      needsOf(step).map(need => steps.find(one => idOf(one) === need)?.key ?? String(need)),
    ),
  )

const namedNeeds = (steps: readonly RowDraft[]) =>
  steps.map(step => withNeeds(step, neededNames(step, steps)))
