// The form of a job, for making and for changing one. The service checks; its words stand at the
// field they are about.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { seesEveryTenant } from '../../data/session.ts'
import type { ApiProblem } from '../../data/problem.ts'
import { ProblemBox } from '../../parts/conditions.tsx'
import { otherRules, TextField } from '../../parts/field.tsx'
import type { JobForm } from './form.ts'
import { FailureFields, FiringFields, PlaceFields } from './policy-fields.tsx'
import { WhenFields } from './when-fields.tsx'
import { WorkFields } from './work-fields.tsx'

interface FormProps {
  readonly form: JobForm
  readonly change: (changes: Partial<JobForm>) => void
  readonly problem: ApiProblem | null
  readonly isBusy: boolean
  readonly isNew: boolean
  readonly label: string
  readonly onSubmit: () => void
  readonly back: string
  readonly children?: ComponentChildren
}

/** Everything a field of this form shows the rules of. */
const shown = [
  'name',
  'tenant',
  'handler',
  'action',
  'url',
  'trigger',
  'payload',
  'tags',
  'queue',
  'priority',
  'retry',
  'timeout_seconds',
  'overlap',
  'missed',
  'grace_seconds',
  'jitter_seconds',
  'run_limit',
]

export function JobFormView(props: FormProps) {
  const { form, change, problem, isBusy, isNew, label, onSubmit, back, children } = props
  const place = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // Whoever cannot see the red border lands in the first field that is wrong.
    place.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [problem])
  const section = { form, change, problem }
  const others = otherRules(problem, shown)
  const submit = (event: Event) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form class="card job-form" ref={place} onSubmit={submit} noValidate>
      {problem !== null && <ProblemBox problem={problem} />}
      {children}
      {others.length > 0 && (
        <ul class="rules">
          {others.map(rule => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      )}
      <div class="pair">
        <TextField
          label="Name"
          value={form.name}
          onChange={name => change({ name })}
          problem={problem}
          names={['name']}
        />
        {isNew && seesEveryTenant.value && (
          <TextField
            label="Tenant"
            value={form.tenant}
            onChange={tenant => change({ tenant })}
            placeholder="default"
            problem={problem}
            names={['tenant']}
          />
        )}
      </div>
      <WorkFields {...section} />
      <WhenFields {...section} />
      <details open={problem !== null}>
        <summary>Retries, overlap, queue, tags…</summary>
        <div class="stack">
          <FailureFields {...section} />
          <FiringFields {...section} />
          <PlaceFields {...section} />
        </div>
      </details>
      <div class="row end">
        <a class="button" href={back}>
          Back
        </a>
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Saving…' : label}
        </button>
      </div>
    </form>
  )
}
