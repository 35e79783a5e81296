// The steps of a workflow in its form: what they need, by the keys of their rows.

import { draftText, groupDraft, type GroupDraft, type RowDraft } from '../../forms/draft.ts'
import { listOf, textsIn } from '../../forms/form-values.ts'
import { freshRowKey, without } from '../../forms/rows.tsx'
import type { Group } from '../../forms/shape.ts'

export const stepFields = ({ value }: RowDraft) => (value as GroupDraft).fields

export const idOf = (step: RowDraft): string => draftText(stepFields(step).id)

/** The key of a step, or a name no step answers to. */
export type Need = number | string

export const needsOf = (step: RowDraft): readonly Need[] =>
  listOf(textsIn(draftText(stepFields(step).needs))) as readonly Need[]

export function withNeeds(step: RowDraft, needs: readonly Need[]): RowDraft {
  const value = step.value as GroupDraft
  return { ...step, value: { ...value, fields: { ...value.fields, needs: JSON.stringify(needs) } } }
}

/** The names of the steps it needs. */
export const neededNames = (step: RowDraft, steps: readonly RowDraft[]): readonly string[] =>
  needsOf(step).flatMap(need => {
    if (typeof need === 'string') return [need]
    const found = steps.find(({ key }) => key === need)
    return found === undefined ? [] : [idOf(found)]
  })

/** A new step follows the last one, unless its author says otherwise. */
export function addStep(row: Group, steps: readonly RowDraft[]): readonly RowDraft[] {
  const taken = new Set(steps.map(idOf))
  let n = steps.length + 1
  while (taken.has(`step-${n}`)) n++
  const value = groupDraft(row, { id: `step-${n}`, handler: '' })
  const step = { key: freshRowKey(steps), name: '', value }
  return [
    ...steps,
    withNeeds(
      step,
      steps.slice(-1).map(({ key }) => key),
    ),
  ]
}

export function removeStep(steps: readonly RowDraft[], at: number): readonly RowDraft[] {
  const { key } = steps[at]!
  return without(steps, at).map(step =>
    withNeeds(
      step,
      needsOf(step).filter(need => need !== key),
    ),
  )
}
