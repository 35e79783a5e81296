// The form of a job, for making and for changing one. The service checks; its words stand at the
// field they are about.

import type { ComponentChildren } from 'preact'
import { seesEveryTenant } from '../../data/session.ts'
import type { ApiProblem } from '../../data/problem.ts'
import { TextField } from '../../forms/field.tsx'
import { FormFrame } from '../../forms/form-frame.tsx'
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
  const { form, change, problem, isNew, children, ...frame } = props
  const section = { form, change, problem }
  return (
    <FormFrame {...frame} problem={problem} shown={shown} notice={children}>
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
    </FormFrame>
  )
}
