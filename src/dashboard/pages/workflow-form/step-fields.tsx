// The steps of a workflow in a form: opened one by one, moved, added, taken away.

import { useId, useState } from 'preact/hooks'
import type { ApiProblem } from '../../data/problem.ts'
import { CheckField, ChoiceField, Rules, rulesFor, TextField } from '../../forms/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { moved, replaced, Rows, RowTools } from '../../forms/rows.tsx'
import { Segments } from '../../components/segments.tsx'
import { methods, useHandlerNames } from '../../forms/handler-names.ts'
import { addStep, needsOf, removeStep, type StepForm, type WorkflowSection } from './form.ts'

/** With more than this, steps are closed until someone opens them. */
const OPEN_MAX = 3

export function StepsFields({ form, change, problem }: WorkflowSection) {
  const { steps } = form
  const handlers = useHandlerNames()
  const [isOpen, setOpen] = useState<ReadonlyMap<number, boolean>>(
    () => new Map(steps.map(({ key }) => [key, steps.length <= OPEN_MAX])),
  )
  const toggle = (key: number, to: boolean) => setOpen(new Map(isOpen).set(key, to))
  return (
    <Rows
      title="Steps"
      add="Add a step"
      onAdd={() => change({ steps: addStep(steps) })}
      hint="Each runs as soon as all steps it waits for are done."
    >
      {steps.map((step, at) => {
        const isWrong = rulesFor(problem, [`steps.${at}`]).length > 0
        const isShown = isWrong || (isOpen.get(step.key) ?? true)
        return (
          <div key={step.key} class={`step-form${isWrong ? ' wrong' : ''}`}>
            <div class="step-head">
              <button
                type="button"
                class="bare step-toggle"
                aria-expanded={isShown}
                onClick={() => toggle(step.key, !isShown)}
              >
                <Icon name={isShown ? 'down' : 'next'} />
                <strong>{step.id || `step ${at + 1}`}</strong>
                {!isShown && <span class="dim small">{aboutText(step, steps)}</span>}
              </button>
              <RowTools
                what={`step ${step.id || at + 1}`}
                at={at}
                count={steps.length}
                onMove={by => change({ steps: moved(steps, at, by) })}
                onRemove={() => change({ steps: removeStep(steps, at) })}
              />
            </div>
            {isShown && (
              <StepFields
                step={step}
                steps={steps}
                at={at}
                handlers={handlers}
                problem={problem}
                set={changes => change({ steps: replaced(steps, at, changes) })}
              />
            )}
          </div>
        )
      })}
    </Rows>
  )
}

function aboutText(step: StepForm, steps: readonly StepForm[]): string {
  const what = step.does === 'handler' ? step.handler : `${step.method} ${step.url}`
  const needs = needsOf(step, steps)
  return needs.length === 0 ? what : `${what}, after ${needs.join(', ')}`
}

interface StepProps {
  readonly step: StepForm
  readonly steps: readonly StepForm[]
  readonly at: number
  readonly handlers: readonly string[]
  readonly problem: ApiProblem | null
  readonly set: (changes: Partial<StepForm>) => void
}

function StepFields(props: StepProps) {
  const { step, at, problem, set, handlers } = props
  const name = (field: string) => [`steps.${at}.${field}`]
  return (
    <div class="stack">
      <div class="pair">
        <TextField
          label="Id"
          value={step.id}
          onChange={id => set({ id })}
          problem={problem}
          names={name('id')}
        />
        <div class="field">
          <span class="label">What it does</span>
          <Segments
            label={`What step ${step.id || at + 1} does`}
            value={step.does}
            options={[
              ['handler', 'Handler'],
              ['http', 'Request'],
            ]}
            onChange={does => set({ does })}
          />
        </div>
      </div>
      <Needs {...props} />
      {step.does === 'handler' ? (
        <TextField
          label="Handler"
          value={step.handler}
          onChange={handler => set({ handler })}
          suggestions={handlers}
          problem={problem}
          names={name('handler')}
          hint="Code that a node has registered under this name."
        />
      ) : (
        <CallFields {...props} />
      )}
      <TextField
        label="Input (JSON)"
        value={step.input}
        onChange={input => set({ input })}
        rows={3}
        isMono
        placeholder='{"order": {"$from": "event.payload.order"}}'
        problem={problem}
        names={name('input')}
        hint="Empty: the payload of the event. $from takes a value of the event or of a step before."
      />
    </div>
  )
}

function CallFields({ step, at, problem, set }: StepProps) {
  const name = (field: string) => [`steps.${at}.http.${field}`]
  return (
    <>
      <TextField
        label="Address"
        type="url"
        value={step.url}
        onChange={url => set({ url })}
        placeholder="https://example.com/hook"
        problem={problem}
        names={name('url')}
      />
      <div class="pair">
        <ChoiceField
          label="Method"
          value={step.method}
          onChange={method => set({ method })}
          options={methods}
          problem={problem}
          names={name('method')}
        />
        <TextField
          label="Stops after (seconds)"
          type="number"
          value={step.timeout}
          onChange={timeout => set({ timeout })}
          problem={problem}
          names={name('timeout_seconds')}
        />
      </div>
      <TextField
        label="Headers (JSON)"
        value={step.headers}
        onChange={headers => set({ headers })}
        rows={2}
        isMono
        problem={problem}
        names={name('headers')}
        hint="Secret values are shown as ***; left so, they stay as they are."
      />
    </>
  )
}

/** The server counts what a step waits for; people know it by name. */
function needRules(problem: ApiProblem | null, at: number, needs: readonly string[]): string[] {
  const name = `steps.${at}.needs`
  return (problem?.errors ?? []).flatMap(({ field, rule }) => {
    if (field === name) return [rule]
    if (!field.startsWith(`${name}.`)) return []
    return [`${needs[Number(field.slice(name.length + 1))] ?? field}: ${rule}`]
  })
}

function Needs({ step, steps, at, problem, set }: StepProps) {
  const rulesId = useId()
  const others = steps.filter(({ key }) => key !== step.key)
  const rules = needRules(problem, at, needsOf(step, steps))
  if (others.length === 0 && step.stray.length === 0) return <Rules rules={rules} />
  const toggle = (key: number, isOn: boolean) => {
    const left = step.needs.filter(need => need !== key)
    set({ needs: isOn ? [...left, key] : left })
  }
  return (
    <fieldset class="needs" aria-describedby={rules.length > 0 ? rulesId : undefined}>
      <legend>Waits for</legend>
      <div class="row">
        {others.map(({ key, id }) => (
          <CheckField
            key={key}
            label={id || `step ${steps.findIndex(one => one.key === key) + 1}`}
            isOn={step.needs.includes(key)}
            onChange={isOn => toggle(key, isOn)}
          />
        ))}
        {step.stray.map(id => (
          <CheckField
            key={id}
            label={`${id} (no such step)`}
            isOn
            onChange={() => set({ stray: step.stray.filter(one => one !== id) })}
          />
        ))}
      </div>
      <Rules id={rulesId} rules={rules} />
    </fieldset>
  )
}
