// How a form is laid out: the groups and the order of its fields, labels, hints, and widgets where a field
// has one of its own. Which fields there are is for the schema to say.

import type { ComponentChildren } from 'preact'
import type { ApiProblem } from '../data/problem.ts'
import {
  isWritten,
  type Draft,
  type GroupDraft,
  type RowsDraft,
  type VariantsDraft,
} from './draft.ts'
import type { Field, Group, Shape } from './shape.ts'

export interface FieldProps {
  readonly field: Field
  readonly name: string
  /** As the service names it: `retry.backoff.max_seconds`, `steps.0.id`. */
  readonly path: string
  readonly draft: Draft
  readonly set: (draft: Draft) => void
  readonly form: FormContext
  /** The group it is in. */
  readonly group: GroupDraft
}

export interface GroupProps {
  readonly group: Group
  readonly draft: GroupDraft
  readonly set: (draft: GroupDraft) => void
  readonly path: string
  readonly form: FormContext
  /** All of them by default. */
  readonly names?: readonly string[]
}

export interface FormContext {
  readonly layout: Layout
  readonly problem: Pick<ApiProblem, 'errors'> | null
  readonly isNew: boolean
  readonly root: GroupDraft
}

export interface Look {
  readonly label?: string
  readonly hint?: ComponentChildren
  readonly placeholder?: string
  /** What a new one begins with, where that is not the default. */
  readonly initial?: unknown
  readonly isRequired?: boolean
  /** Words for choices, in their order; others follow as they are. */
  readonly options?: readonly (readonly [value: string, label: string])[]
  readonly isSegments?: boolean
  readonly isMono?: boolean
  readonly isWide?: boolean
  readonly lines?: number
  readonly type?: 'url'
  /** What a row is called: "Add a header". */
  readonly item?: string
  readonly isHidden?: (form: FormContext) => boolean
  readonly widget?: (props: FieldProps) => ComponentChildren
}

/** Fields of which one is sent: the words for each; the empty name is for none of them. */
export interface Either {
  readonly label: string
  readonly options: readonly (readonly [name: string, label: string])[]
}

export interface Section {
  readonly title: string | null
  readonly fields: readonly string[]
}

export interface Layout {
  readonly sections: readonly Section[]
  /** Sections that are opened on demand; what the schema has beside those of the table comes last. */
  readonly folded: { readonly summary: string; readonly sections: readonly Section[] } | null
  /** By path, with `*` for the number or the name of a row. */
  readonly looks: Readonly<Record<string, Look>>
  /** By the path of their group. */
  readonly either: Readonly<Record<string, Either>>
}

const general = (path: string) => path.replaceAll(/\.\d+(?=\.|$)/g, '.*')

export const lookOf = ({ looks }: Layout, path: string): Look => looks[general(path)] ?? {}

export const eitherOf = ({ either }: Layout, path: string): Either | undefined =>
  either[general(path)]

/** The same looks at another path: a row of a map is named by its author. */
export function looksAt(layout: Layout, from: string, to: string): Layout {
  const moved = Object.entries(layout.looks).flatMap(([path, look]) =>
    path === general(from) || path.startsWith(`${general(from)}.`)
      ? [[general(to) + path.slice(general(from).length), look] as const]
      : [],
  )
  return { ...layout, looks: { ...layout.looks, ...Object.fromEntries(moved) } }
}

const units: Readonly<Record<string, string>> = { seconds: ' (seconds)', ms: ' (ms)' }

/** `late_limit_seconds` is read as "Late limit (seconds)". */
export function labelOf(layout: Layout, path: string, name: string): string {
  const { label } = lookOf(layout, path)
  if (label !== undefined) return label
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
  const unit = units[words.at(-1)!] ?? ''
  const text = (unit === '' ? words : words.slice(0, -1)).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1) + unit
}

/** The sections with every field of the schema: those the table does not know are the last. */
export function completed(layout: Layout, { fields }: Group): Layout {
  const { sections, folded } = layout
  const known = [...sections, ...(folded?.sections ?? [])].flatMap(section => section.fields)
  const others = Object.keys(fields).filter(name => !known.includes(name))
  if (others.length === 0) return layout
  const rest = { title: 'Other settings', fields: others }
  return folded === null
    ? { ...layout, sections: [...sections, rest] }
    : { ...layout, folded: { ...folded, sections: [...folded.sections, rest] } }
}

/** The shape with what the table says: what new ones begin with, and which fields exclude others. */
export function laidOut(group: Group, layout: Layout, path = ''): Group {
  const fields = Object.entries(group.fields).map(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const { initial, isRequired = field.isRequired } = lookOf(layout, at)
    const shape = inside(field.shape, layout, at)
    return [
      name,
      { ...field, shape, isRequired, ...(initial !== undefined && { initial }) },
    ] as const
  })
  const either = eitherOf(layout, path)
  const names = either?.options.map(([name]) => name.split(':')[0]!) ?? []
  return {
    ...group,
    fields: Object.fromEntries(fields),
    ...(either && {
      either: {
        members: [...new Set(names)].filter(name => name !== ''),
        isOptional: names.includes(''),
      },
    }),
  }
}

function inside(shape: Shape, layout: Layout, path: string): Shape {
  switch (shape.kind) {
    case 'group':
      return laidOut(shape, layout, path)
    case 'rows':
      return { ...shape, row: laidOut(shape.row, layout, `${path}.*`) }
    case 'variants': {
      const variants = Object.entries(shape.variants).map(([name, one]) => [
        name,
        one === null ? null : inside(one, layout, path),
      ])
      return { ...shape, variants: Object.fromEntries(variants) as typeof shape.variants }
    }
    default:
      return shape
  }
}

/** Where a form shows a rule: at a field with all its parts, or at a group as a whole. */
export interface Places {
  readonly fields: readonly string[]
  readonly groups: readonly string[]
}

const none: Places = { fields: [], groups: [] }
const joined = (all: readonly Places[]): Places => ({
  fields: all.flatMap(({ fields }) => fields),
  groups: all.flatMap(({ groups }) => groups),
})

/** Every name under which the form shows what the service said. */
export function placesIn(
  shape: Shape,
  draft: Draft | undefined,
  path: string,
  form: FormContext,
): Places {
  switch (shape.kind) {
    case 'group': {
      const { fields, off } = draft as GroupDraft
      const names = Object.keys(shape.fields).filter(name => !off.includes(name))
      const inner = names.map(name => {
        const at = path === '' ? name : `${path}.${name}`
        if (lookOf(form.layout, at).isHidden?.(form)) return none
        return placesIn(shape.fields[name]!.shape, fields[name], at, form)
      })
      return joined([{ fields: [], groups: [path] }, ...inner])
    }
    case 'variants': {
      const { chosen, typed } = draft as VariantsDraft
      const own = { fields: [], groups: [path, `${path}.${shape.tag}`] }
      const one = shape.variants[chosen]
      if (one === undefined) return { fields: [path], groups: [] }
      return one === null ? own : joined([own, placesIn(one, typed[chosen], path, form)])
    }
    case 'rows':
      return joined([
        { fields: [], groups: [path] },
        ...sentRows(shape, draft as RowsDraft).map(({ value }, at) =>
          placesIn(shape.row, value, `${path}.${at}`, form),
        ),
      ])
    case 'map':
      return {
        fields: sentRows(shape, draft as RowsDraft).map(({ name }) => `${path}.${name}`),
        groups: [path],
      }
    case 'flag':
      // A box to tick has no room for words.
      return none
    default:
      return { fields: [path], groups: [] }
  }
}

export const sentRows = (shape: Shape & { kind: 'rows' | 'map' }, { rows }: RowsDraft) =>
  rows.filter(row => isWritten(shape, row))

export const isShownIn = ({ fields, groups }: Places, field: string): boolean =>
  groups.includes(field) || fields.some(name => field === name || field.startsWith(`${name}.`))
