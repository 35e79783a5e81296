// The fields of a workflow: its name, where events come in, its steps, and the order they run in.

import { CheckField, TextField } from '../../forms/field.tsx'
import { replaced, Rows, RowTools, without } from '../../forms/rows.tsx'
import { placeSteps } from '../workflows/graph.ts'
import { StepsDrawing } from '../workflows/steps.tsx'
import { addEntry, needsOf, type EntryForm, type StepForm, type WorkflowSection } from './form.ts'
import { StepsFields } from './step-fields.tsx'

export function WorkflowFields(props: WorkflowSection) {
  const { form, change, problem, isNew } = props
  return (
    <>
      <div class="pair">
        <TextField
          label="Name"
          value={form.name}
          onChange={name => change({ name })}
          problem={problem}
          names={['name']}
        />
        {isNew && (
          <TextField
            label="Number"
            value={form.number}
            onChange={number => change({ number })}
            placeholder="the next free one"
            problem={problem}
            names={['id']}
            hint="By which schedules name it."
          />
        )}
      </div>
      <CheckField
        label="Active: it may be run"
        isOn={form.active}
        onChange={active => change({ active })}
      />
      <StepsFields {...props} />
      <Order steps={form.steps} />
      <EntryRows {...props} />
    </>
  )
}

/** Shown while it is written; an unnamed step gets a name for the drawing only. */
function drawnSteps(steps: readonly StepForm[]) {
  const named = steps.map((step, at) => ({ ...step, id: step.id || `(step ${at + 1})` }))
  return named.map(step => ({
    id: step.id,
    needs: [...needsOf(step, named)],
    ...(step.does === 'handler' && { handler: step.handler || 'no handler yet' }),
  }))
}

function Order({ steps }: { readonly steps: readonly StepForm[] }) {
  if (steps.length === 0) return null
  const drawn = drawnSteps(steps)
  const placed = placeSteps(drawn)
  const last = Math.max(...placed.map(({ column }) => column))
  const stages = Array.from({ length: last + 1 }, (_, at) =>
    placed.filter(({ column }) => column === at).map(({ step }) => step.id),
  )
  return (
    <section class="order" aria-label="The order they run in">
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

function EntryRows({ form, change, problem }: WorkflowSection) {
  const { entries } = form
  const set = (at: number, changes: Partial<EntryForm>) =>
    change({ entries: replaced(entries, at, changes) })
  return (
    <Rows
      title="Where events come in"
      add="Add an entry"
      onAdd={() => change({ entries: addEntry(entries) })}
      hint="Schedules hand their event to the active entry with the highest priority."
    >
      {entries.map((entry, at) => (
        <div key={entry.key} class="form-row">
          <TextField
            label="Id"
            value={entry.id}
            onChange={id => set(at, { id })}
            placeholder="given by itself"
            problem={problem}
            names={[`trigger_nodes.${at}.id`]}
          />
          <TextField
            label="Priority"
            type="number"
            value={entry.priority}
            onChange={priority => set(at, { priority })}
            problem={problem}
            names={[`trigger_nodes.${at}.priority`]}
          />
          <CheckField label="Active" isOn={entry.active} onChange={active => set(at, { active })} />
          <RowTools
            what={`entry ${entry.id || at + 1}`}
            at={at}
            count={entries.length}
            onRemove={() => change({ entries: without(entries, at) })}
          />
        </div>
      ))}
    </Rows>
  )
}
