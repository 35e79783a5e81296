// The form of a document: its tabs, its fields or its text, and what the service said about either.

import type { ComponentChildren } from 'preact'
import { Segments } from '../components/segments.tsx'
import type { ApiProblem } from '../data/problem.ts'
import { TEXT_FIELD } from './document-text.ts'
import { TextField } from './field.tsx'
import { FormFrame } from './form-frame.tsx'
import { placesOf, type FormKind } from './form-kind.ts'
import { isShownIn, type FormContext, type Section } from './layout.ts'
import { GroupFields } from './schema-fields.tsx'
import type { Document, Tab } from './use-document.ts'

interface FormProps {
  readonly kind: FormKind
  readonly document: Document
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

export function DocumentForm({ kind, document, isNew, ...frame }: FormProps) {
  const { form, setForm, tab } = document
  const problem = document.fault ?? frame.problem
  const context = { layout: kind.layout, problem, isNew, root: form }
  const places = placesOf(kind, context)
  const isShown = (field: string) => tab !== 'form' || isShownIn(places, field)
  return (
    <FormFrame {...frame} problem={problem} isShown={isShown}>
      <div>
        <Segments label="Written as" value={tab} options={tabs} onChange={document.choose} />
      </div>
      {tab === 'form' ? (
        <SchemaForm kind={kind} form={context} set={setForm} />
      ) : (
        <WholeText document={document} problem={problem} />
      )}
    </FormFrame>
  )
}

interface SchemaFormProps {
  readonly kind: FormKind
  readonly form: FormContext
  readonly set: Document['setForm']
}

/** Every field of the schema, in the sections of its layout. */
export function SchemaForm({ kind, form, set }: SchemaFormProps) {
  const { sections, folded } = kind.layout
  const drawn = ({ title, fields }: Section) => {
    const inside = (
      <div class="pair">
        <GroupFields
          group={kind.shape}
          draft={form.root}
          set={set}
          path=""
          form={form}
          names={fields}
        />
      </div>
    )
    if (title === null) return <div key={fields[0]}>{inside}</div>
    return (
      <fieldset key={title}>
        <legend>{title}</legend>
        {inside}
      </fieldset>
    )
  }
  return (
    <>
      {sections.map(drawn)}
      {folded !== null && (
        <details open={form.problem !== null}>
          <summary>{folded.summary}</summary>
          <div class="stack">{folded.sections.map(drawn)}</div>
        </details>
      )}
    </>
  )
}

interface TextProps {
  readonly document: Document
  readonly problem: ApiProblem | null
}

function WholeText({ document, problem }: TextProps) {
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
