// What a step waits for: the other steps, each to be ticked.

import { useId } from 'preact/hooks'
import { CheckField, Rules } from '../../forms/field.tsx'
import { draftText, type RowDraft, type RowsDraft } from '../../forms/draft.ts'
import type { FieldProps, FormContext } from '../../forms/layout.ts'
import { listOf, textsIn } from '../../forms/form-values.ts'
import { idOf, type Need } from './steps.ts'

export function NeedsField({ path, draft, set, form, group }: FieldProps) {
  const rulesId = useId()
  const steps = (form.root.fields.steps as RowsDraft).rows
  const needs = listOf(textsIn(draftText(draft))) as readonly Need[]
  const others = steps.filter(({ value }) => value !== group)
  const unknown = needs.filter(need => typeof need === 'string')
  const rules = needRules(form.problem, path, needs, steps)
  if (others.length === 0 && unknown.length === 0) return <Rules rules={rules} />
  const toggle = (need: Need, isOn: boolean) => {
    const left = needs.filter(one => one !== need)
    set(JSON.stringify(isOn ? [...left, need] : left))
  }
  return (
    <fieldset class="needs wide" aria-describedby={rules.length > 0 ? rulesId : undefined}>
      <legend>Waits for</legend>
      <div class="row">
        {others.map(step => (
          <CheckField
            key={step.key}
            name={path}
            label={nameOf(step, steps)}
            isOn={needs.includes(step.key)}
            onChange={isOn => toggle(step.key, isOn)}
          />
        ))}
        {unknown.map(id => (
          <CheckField
            key={id}
            name={path}
            label={`${id} (no such step)`}
            isOn
            onChange={() => toggle(id, false)}
          />
        ))}
      </div>
      <Rules id={rulesId} rules={rules} />
    </fieldset>
  )
}

const nameOf = (step: RowDraft, steps: readonly RowDraft[]): string =>
  idOf(step) || `step ${steps.indexOf(step) + 1}`

/** The service counts what a step waits for; people know it by name. */
function needRules(
  problem: FormContext['problem'],
  path: string,
  needs: readonly Need[],
  steps: readonly RowDraft[],
): string[] {
  return (problem?.errors ?? []).flatMap(({ field, rule }) => {
    if (field === path) return [rule]
    if (!field.startsWith(`${path}.`)) return []
    const need = needs[Number(field.slice(path.length + 1))]
    const step = steps.find(({ key }) => key === need)
    return [`${step === undefined ? (need ?? field) : nameOf(step, steps)}: ${rule}`]
  })
}
