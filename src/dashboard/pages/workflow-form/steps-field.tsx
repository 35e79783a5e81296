// The steps of a workflow in a form: opened one by one, moved, added, removed; and the order they run in.

import { useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import { draftText, type GroupDraft, type RowDraft, type RowsDraft } from '../../forms/draft.ts'
import { rulesFor } from '../../forms/field.tsx'
import type { FieldProps } from '../../forms/layout.ts'
import { moved, replaced, Rows, RowTools } from '../../forms/rows.tsx'
import { GroupFields } from '../../forms/schema-fields.tsx'
import type { Group } from '../../forms/shape.ts'
import { placeSteps } from '../workflows/graph.ts'
import { StepsDrawing } from '../workflows/steps.tsx'
import { addStep, idOf, neededNames, removeStep, stepFields } from './steps.ts'

/** With more than this, steps are closed until someone opens them. */
const OPEN_MAX = 3

export function StepsField({ field, path, draft, set, form }: FieldProps) {
  const { rows } = draft as RowsDraft
  const row = (field.shape as { readonly row: Group }).row
  const put = (next: readonly RowDraft[]) => set({ kind: 'rows', rows: next, isGiven: true })
  const [isOpen, setOpen] = useState<ReadonlyMap<number, boolean>>(
    () => new Map(rows.map(({ key }) => [key, rows.length <= OPEN_MAX])),
  )
  return (
    <>
      <Rows
        title="Steps"
        add="Add a step"
        onAdd={() => put(addStep(row, rows))}
        hint="Each runs as soon as all steps it waits for are done."
      >
        {rows.map((step, at) => {
          const isWrong = rulesFor(form.problem, [`${path}.${at}`]).length > 0
          const isShown = isWrong || (isOpen.get(step.key) ?? true)
          const name = idOf(step) || `step ${at + 1}`
          return (
            <div key={step.key} class={`step-form${isWrong ? ' wrong' : ''}`}>
              <div class="step-head">
                <button
                  type="button"
                  class="bare step-toggle"
                  aria-expanded={isShown}
                  onClick={() => setOpen(new Map(isOpen).set(step.key, !isShown))}
                >
                  <Icon name={isShown ? 'down' : 'next'} />
                  <strong>{name}</strong>
                  {!isShown && <span class="dim small">{aboutText(step, rows)}</span>}
                </button>
                <RowTools
                  what={idOf(step) === '' ? name : `step ${name}`}
                  at={at}
                  count={rows.length}
                  onMove={by => put(moved(rows, at, by))}
                  onRemove={() => put(removeStep(rows, at))}
                />
              </div>
              {isShown && (
                <div class="pair">
                  <GroupFields
                    group={row}
                    draft={step.value as GroupDraft}
                    set={value => put(replaced(rows, at, { value }))}
                    path={`${path}.${at}`}
                    form={form}
                  />
                </div>
              )}
            </div>
          )
        })}
      </Rows>
      <Order steps={rows} />
    </>
  )
}

const isCall = ({ value }: RowDraft): boolean => !(value as GroupDraft).off.includes('http')

function aboutText(step: RowDraft, steps: readonly RowDraft[]): string {
  const { handler, http } = stepFields(step)
  const { method, url } = (http as GroupDraft).fields
  const what = isCall(step) ? `${draftText(method)} ${draftText(url)}` : draftText(handler)
  const needs = neededNames(step, steps)
  return needs.length === 0 ? what : `${what}, after ${needs.join(', ')}`
}

/** Shown while it is written; an unnamed step gets a name for the drawing only. */
function drawnSteps(steps: readonly RowDraft[]) {
  const named = steps.map((step, at) => {
    const value = step.value as GroupDraft
    const fields = { ...value.fields, id: idOf(step) || `(step ${at + 1})` }
    return { ...step, value: { ...value, fields } }
  })
  return named.map(step => ({
    id: idOf(step),
    needs: [...neededNames(step, named)],
    ...(!isCall(step) && { handler: draftText(stepFields(step).handler) || 'no handler yet' }),
  }))
}

function Order({ steps }: { readonly steps: readonly RowDraft[] }) {
  if (steps.length === 0) return null
  const drawn = drawnSteps(steps)
  const placed = placeSteps(drawn)
  const last = Math.max(...placed.map(({ column }) => column))
  const stages = Array.from({ length: last + 1 }, (_, at) =>
    placed.filter(({ column }) => column === at).map(({ step }) => step.id),
  )
  return (
    <section class="order wide" aria-label="The order they run in">
      <h2>The order they run in</h2>
      <StepsDrawing steps={drawn} run={null} />
      <ol class="step-list">
        {stages.map((ids, at) => (
          <li key={at}>
            {ids.join(', ')}
            {ids.length > 1 && <span class="dim"> side by side</span>}
          </li>
        ))}
      </ol>
    </section>
  )
}
