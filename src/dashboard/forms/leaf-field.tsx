// One value of a schema: a text, a number, a choice, a time, JSON.

import { draftText } from './draft.ts'
import { CheckField, ChoiceField, TextField } from './field.tsx'
import { labelOf, type FieldProps, type Look } from './layout.ts'
import type { Field, Shape } from './shape.ts'

interface LeafProps extends FieldProps {
  readonly shape: Shape
  readonly look: Look
}

export function Leaf({ field, shape, look, name, path, draft, set, form }: LeafProps) {
  const label = look.label ?? labelOf(form.layout, path, name)
  const shared = {
    label: shape.kind === 'json' && look.label === undefined ? `${label} (JSON)` : label,
    hint: (look.hint ?? field.help) || undefined,
    problem: form.problem,
    name: path,
    names: [path],
    isRequired: field.isRequired,
    isWide: look.isWide === true || look.lines !== undefined || shape.kind === 'json',
  }
  const value = draftText(draft)
  if (shape.kind === 'flag' && (field.initial !== undefined || field.isRequired)) {
    return <CheckField label={label} name={path} isOn={draft === true} onChange={set} />
  }
  const options = optionsOf(shape, look, field, value)
  if (options !== null) {
    const onChange = (chosen: string) =>
      set(shape.kind === 'flag' && chosen !== '' ? chosen === 'true' : chosen)
    return <ChoiceField {...shared} value={value} options={options} onChange={onChange} />
  }
  const limits = shape.kind === 'number' ? { min: shape.min, max: shape.max } : {}
  return (
    <TextField
      {...shared}
      {...limits}
      value={value}
      onChange={set}
      placeholder={look.placeholder}
      isMono={look.isMono === true || shape.kind === 'json'}
      rows={look.lines ?? (shape.kind === 'json' ? 3 : undefined)}
      type={
        look.type ??
        (shape.kind === 'number' ? 'number' : shape.kind === 'moment' ? 'datetime-local' : 'text')
      }
    />
  )
}

type Options = readonly (readonly [value: string, label: string])[]

/** What can be chosen; null where it is to be written. */
function optionsOf(shape: Shape, look: Look, field: Field, value: string): Options | null {
  const isOpen = field.initial === undefined && !field.isRequired
  const unset: Options = isOpen ? [['', 'Default']] : []
  if (shape.kind === 'flag') return [...unset, ['true', 'Yes'], ['false', 'No']]
  const written = value === '' ? [] : [value]
  const words = look.options ?? []
  if (shape.kind === 'choice') {
    return [...unset, ...withOthers(words, [...shape.options, ...written])]
  }
  if (look.options === undefined) return null
  return [...unset, ...withOthers(words, [...words.map(([one]) => one), ...written])]
}

/** What can be chosen, first what there are words for; the others as they are. */
export function withOthers(options: Options, all: readonly string[]): Options {
  const known = options.filter(([one]) => all.includes(one))
  const others = [...new Set(all)].filter(name => !known.some(([one]) => one === name))
  return [...known, ...others.map(name => [name, name] as const)]
}
