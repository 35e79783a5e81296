// Draws the fields of a schema: each by what it takes, in the words of the form's layout, with what the
// service said about it.

import { Fragment, type ComponentChildren } from 'preact'
import { Segments } from '../components/segments.tsx'
import {
  choose,
  isSwitched,
  OTHER,
  type Draft,
  type GroupDraft,
  type RowsDraft,
  type VariantsDraft,
} from './draft.ts'
import { EitherField } from './either-field.tsx'
import { CheckField, ChoiceField, Rules } from './field.tsx'
import {
  labelOf,
  lookOf,
  type FieldProps,
  type FormContext,
  type GroupProps,
  type Look,
} from './layout.ts'
import { Leaf, withOthers } from './leaf-field.tsx'
import { SchemaMap, SchemaRows } from './schema-rows.tsx'
import type { Variants } from './shape.ts'

export function GroupFields({ group, draft, set, path, form, names }: GroupProps) {
  const members = group.either?.members ?? []
  const shown = names ?? Object.keys(group.fields)
  const chooser = shown.find(name => members.includes(name))
  const fieldOf = (name: string) => {
    const at = path === '' ? name : `${path}.${name}`
    const field = group.fields[name]!
    const change = (value: Draft) => set({ ...draft, fields: { ...draft.fields, [name]: value } })
    const props = {
      field,
      name,
      path: at,
      draft: draft.fields[name]!,
      set: change,
      form,
      group: draft,
    }
    if (members.includes(name)) return <Chosen {...props} />
    if (!isSwitched(field)) return <SchemaField {...props} />
    const off = draft.off.filter(one => one !== name)
    const turn = (isOn: boolean) => set({ ...draft, off: isOn ? off : [...off, name] })
    return <SwitchedField {...props} isOn={!draft.off.includes(name)} turn={turn} />
  }
  return (
    <>
      {shown.map(name => (
        <Fragment key={name}>
          {name === chooser && (
            <EitherField group={group} draft={draft} set={set} path={path} form={form} />
          )}
          {(!members.includes(name) || !draft.off.includes(name)) && fieldOf(name)}
        </Fragment>
      ))}
    </>
  )
}

/** A field that was chosen instead of others: what it holds, without a choice of its own. */
function Chosen(props: FieldProps) {
  const { shape } = props.field
  return shape.kind === 'variants' ? (
    <Variant {...props} shape={shape} />
  ) : (
    <SchemaField {...props} />
  )
}

interface SwitchedProps extends FieldProps {
  readonly isOn: boolean
  readonly turn: (isOn: boolean) => void
}

/** A part that may be left out as a whole. */
function SwitchedField({ isOn, turn, ...props }: SwitchedProps) {
  const { form, path, name } = props
  return (
    <>
      <div class="wide">
        <CheckField
          label={labelOf(form.layout, path, name)}
          name={path}
          isOn={isOn}
          onChange={turn}
        />
      </div>
      {isOn && <SchemaField {...props} />}
    </>
  )
}

export function SchemaField(props: FieldProps): ComponentChildren {
  const { field, path, draft, set, form } = props
  const { shape } = field
  const look = lookOf(form.layout, path)
  if (look.isHidden?.(form) === true) return null
  if (look.widget !== undefined) return <look.widget {...props} />
  switch (shape.kind) {
    case 'group':
      return (
        <>
          <Rules rules={rulesAt(form, [path])} />
          <GroupFields
            group={shape}
            draft={draft as GroupDraft}
            set={set}
            path={path}
            form={form}
          />
        </>
      )
    case 'variants':
      return <VariantsField {...props} shape={shape} look={look} />
    case 'rows':
      return <SchemaRows {...props} shape={shape} draft={draft as RowsDraft} Fields={GroupFields} />
    case 'map':
      return <SchemaMap {...props} shape={shape} draft={draft as RowsDraft} Value={SchemaField} />
    default:
      return <Leaf {...props} shape={shape} look={look} />
  }
}

const rulesAt = ({ problem }: FormContext, names: readonly string[]): string[] =>
  (problem?.errors ?? []).filter(({ field }) => names.includes(field)).map(({ rule }) => rule)

interface VariantsProps extends FieldProps {
  readonly shape: Variants
  readonly look: Look
}

function VariantsField(props: VariantsProps) {
  const { shape, look, form, path, name, set } = props
  const draft = props.draft as VariantsDraft
  const words = Object.keys(shape.variants)
  const options = withOthers(look.options ?? [], draft.chosen === OTHER ? [...words, OTHER] : words)
  const label = labelOf(form.layout, path, name)
  // A plain value says itself what is wrong with it.
  const isPlain = shape.variants[draft.chosen]?.kind === 'text' || draft.chosen === OTHER
  const rules = isPlain ? [] : rulesAt(form, [path, `${path}.${shape.tag}`])
  const onChange = (chosen: string) => set(choose(shape, draft, chosen))
  return (
    <>
      {look.isSegments ? (
        <div class="wide stack tight">
          <div>
            <Segments label={label} value={draft.chosen} options={options} onChange={onChange} />
          </div>
          <Rules rules={rules} />
        </div>
      ) : (
        <ChoiceField
          label={label}
          name={path}
          value={draft.chosen}
          options={options}
          onChange={onChange}
          rules={rules}
          hint={look.hint}
        />
      )}
      <Variant {...props} />
    </>
  )
}

/** The fields of the variant that is chosen. */
function Variant({ shape, ...props }: FieldProps & { readonly shape: Variants }) {
  const { path, set, form } = props
  const draft = props.draft as VariantsDraft
  const { chosen, typed } = draft
  const one = chosen === OTHER ? ({ kind: 'json' } as const) : shape.variants[chosen]
  if (one == null) return null
  const change = (value: Draft) => set({ ...draft, typed: { ...typed, [chosen]: value } })
  if (one.kind === 'group') {
    const inner = typed[chosen] as GroupDraft
    return <GroupFields group={one} draft={inner} set={change} path={path} form={form} />
  }
  const look = lookOf(form.layout, `${path}.${chosen}`)
  const inner = {
    ...props,
    field: { ...props.field, shape: one },
    draft: typed[chosen] ?? '',
    set: change,
  }
  return <Leaf {...inner} shape={one} look={{ label: 'Value', ...look }} />
}
