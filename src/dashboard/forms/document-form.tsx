// The form of a document: its tabs, its fields or its text, and what the service said about either.

import type { ComponentChildren } from 'preact'
import type { ApiProblem } from '../data/problem.ts'
import { TextField } from './field.tsx'
import { FormFrame } from './form-frame.tsx'
import { Segments } from '../components/segments.tsx'
import { TEXT_FIELD } from './document-text.ts'
import type { Document, Shape, Tab } from './use-document.ts'

export interface SectionProps<F> {
  readonly form: F
  readonly change: (changes: Partial<F>) => void
  readonly problem: ApiProblem | null
  readonly isNew: boolean
}

/** A kind of document, and the fields it is filled in by. */
export interface Kind<F> extends Shape<F> {
  readonly Fields: (props: SectionProps<F>) => ComponentChildren
}

interface FormProps<F> {
  readonly kind: Kind<F>
  readonly document: Document<F>
  readonly problem: ApiProblem | null
  readonly isBusy: boolean
  readonly isNew: boolean
  readonly label: string
  readonly back: string
  readonly onSubmit: () => void
  readonly notice?: ComponentChildren
}

const tabs: readonly (readonly [Tab, string])[] = [
  ['form', 'Form'],
  ['yaml', 'YAML'],
  ['json', 'JSON'],
]

export function DocumentForm<F>({ kind, document, isNew, ...frame }: FormProps<F>) {
  const { form, setForm, tab } = document
  const problem = document.fault ?? frame.problem
  const isText = tab !== 'form'
  const change = (changes: Partial<F>) => setForm({ ...form, ...changes })
  return (
    <FormFrame {...frame} problem={problem} shown={isText ? null : kind.shownIn(form)}>
      <div>
        <Segments label="Written as" value={tab} options={tabs} onChange={document.choose} />
      </div>
      {isText ? (
        <WholeText document={document} problem={problem} />
      ) : (
        <kind.Fields form={form} change={change} problem={problem} isNew={isNew} />
      )}
    </FormFrame>
  )
}

interface TextProps<F> {
  readonly document: Document<F>
  readonly problem: ApiProblem | null
}

function WholeText<F>({ document, problem }: TextProps<F>) {
  const rules = problem?.errors.map(({ field, rule }) =>
    field === TEXT_FIELD ? rule : `${field} ${rule}`,
  )
  return (
    <TextField
      label={`The whole as ${document.tab.toUpperCase()}`}
      value={document.text}
      onChange={document.setText}
      rows={26}
      isMono
      rules={rules ?? []}
      hint="The service checks it just as it checks the form. Saving replaces all that is written here."
    />
  )
}
