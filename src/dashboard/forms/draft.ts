// What a form holds while it is filled in, and the way between it and the document of the service. Texts
// stay as they were typed: what cannot be read goes as it is, for the service to refuse by name.

import {
  fieldsOf,
  isFields,
  jsonIn,
  jsonText,
  listOf,
  listText,
  numberIn,
  textOf,
  textsIn,
  type Fields,
} from './form-values.ts'
import { isoTime, localInput } from './local-time.ts'
import type { Field, Group, Shape, Variants } from './shape.ts'
import { freshRowKey, keyed, type Keyed } from './rows.tsx'

export type Draft = string | boolean | null | GroupDraft | VariantsDraft | RowsDraft

export interface GroupDraft {
  readonly kind: 'group'
  readonly fields: Readonly<Record<string, Draft>>
  /** Fields that are not sent, with what was typed in them. */
  readonly off: readonly string[]
  /** What the schema does not know, as it was. */
  readonly unknown: Fields
}

export interface VariantsDraft {
  readonly kind: 'variants'
  readonly chosen: string
  /** What was typed in each variant, so that choosing another loses nothing. */
  readonly typed: Readonly<Record<string, Draft>>
}

export interface RowDraft extends Keyed {
  /** The name in a map; empty in a list. */
  readonly name: string
  readonly value: Draft
}

export interface RowsDraft {
  readonly kind: 'rows'
  readonly rows: readonly RowDraft[]
  /** An optional list that was never given is not sent while it is empty. */
  readonly isGiven: boolean
}

/** A variant the schema does not have, shown as JSON. */
export const OTHER = 'other'

export function draftOf(shape: Shape, value: unknown): Draft {
  switch (shape.kind) {
    case 'text':
    case 'number':
    case 'choice':
      return value === null ? null : scalarText(value)
    case 'flag':
      return value === undefined ? '' : value !== false
    case 'moment':
      return value === null ? null : localInput(textOf(value, ''))
    case 'texts':
      return value === undefined ? '' : listText(value)
    case 'json':
      return value === undefined ? '' : jsonText(value)
    case 'rows': {
      const rows = listOf(value).map(one => ({
        name: '',
        value: draftOf(shape.row, fieldsOf(one)),
      }))
      return { kind: 'rows', rows: keyed(rows), isGiven: value !== undefined }
    }
    case 'map': {
      const entries = Object.entries(fieldsOf(value))
      const rows = entries.map(([name, one]) => ({ name, value: draftOf(shape.value, one) }))
      return { kind: 'rows', rows: keyed(rows), isGiven: value !== undefined }
    }
    case 'group':
      return groupDraft(shape, fieldsOf(value))
    case 'variants':
      return variantsDraft(shape, value)
  }
}

const scalarText = (value: unknown): string =>
  typeof value === 'boolean' ? String(value) : textOf(value, '')

export function groupDraft(group: Group, given: Fields): GroupDraft {
  const { fields, fixed, either } = group
  const names = Object.keys(fields)
  const isAbsent = (name: string) => given[name] === undefined || given[name] === null
  const members = either?.members ?? []
  const isOff = (name: string) => isAbsent(name) && isSwitched(fields[name]!)
  const off = names.filter(name => !members.includes(name) && isOff(name))
  const unknown = Object.entries(given).filter(
    ([name]) => fields[name] === undefined && fixed[name] === undefined,
  )
  return {
    kind: 'group',
    fields: Object.fromEntries(names.map(name => [name, fieldDraft(fields[name]!, given[name])])),
    off: either === undefined ? off : [...off, ...unchosen(either, isAbsent)],
    unknown: Object.fromEntries(unknown),
  }
}

/** Whether a part may be left out as a whole. */
export const isSwitched = ({ shape, isRequired, initial }: Field): boolean =>
  (shape.kind === 'group' || shape.kind === 'variants') && !isRequired && initial == null

function unchosen(
  { members, isOptional }: NonNullable<Group['either']>,
  isAbsent: (name: string) => boolean,
) {
  const chosen = members.find(name => !isAbsent(name)) ?? (isOptional ? null : members[0])
  return members.filter(name => name !== chosen)
}

const fieldDraft = ({ shape, initial }: Field, value: unknown): Draft =>
  draftOf(shape, value === undefined ? initial : value)

function variantsDraft(shape: Variants, value: unknown): VariantsDraft {
  const names = Object.keys(shape.variants)
  const chosen = value == null ? names[0]! : (variantOf(shape, value) ?? OTHER)
  const typed = names.map(name => {
    const one = shape.variants[name]
    return [
      name,
      one == null ? '' : draftOf(one, name === chosen ? (value ?? undefined) : undefined),
    ]
  })
  return {
    kind: 'variants',
    chosen,
    typed: { ...Object.fromEntries(typed), [OTHER]: jsonText(value) },
  }
}

function variantOf({ variants, tag }: Variants, value: unknown): string | undefined {
  const names = Object.keys(variants)
  if (!isFields(value)) {
    const word = scalarText(value)
    return variants[word] === null ? word : names.find(name => variants[name]?.kind === 'text')
  }
  if (tag !== null) return names.find(name => name === value[tag])
  return names.find(name => variants[name]?.kind === 'group' && value[name] !== undefined)
}

/** What a field shows; empty for what is drawn as several fields. */
export function draftText(draft: Draft | undefined): string {
  return typeof draft === 'string' || typeof draft === 'boolean' ? String(draft) : ''
}

/** What is sent; undefined when nothing is. */
export function valueOf(shape: Shape, draft: Draft | undefined, field?: Field): unknown {
  switch (shape.kind) {
    case 'text':
    case 'choice':
      return draft === '' ? emptyOf(field) : draft
    case 'number':
      return draft === '' ? emptyOf(field) : draft === null ? null : numberIn(draftText(draft))
    case 'moment':
      return draft === '' ? emptyOf(field) : draft === null ? null : isoTime(draftText(draft))
    case 'flag':
      return draft === '' ? undefined : draft
    case 'json':
      return draft === '' && !isDefined(field) ? undefined : jsonIn(draftText(draft))
    case 'texts':
      return draft === '' && !isDefined(field) ? undefined : textsIn(draftText(draft))
    case 'rows':
    case 'map':
      return rowsValue(shape, draft as RowsDraft)
    case 'group':
      return groupValue(shape, draft as GroupDraft)
    case 'variants': {
      const { chosen, typed } = draft as VariantsDraft
      if (chosen === OTHER) return jsonIn(draftText(typed[OTHER]))
      const one = shape.variants[chosen]
      return one == null ? chosen : valueOf(one, typed[chosen], requiredField)
    }
  }
}

const requiredField: Field = { shape: { kind: 'text' }, isRequired: true, isNullable: false }

const isDefined = (field: Field | undefined): boolean =>
  field === undefined || field.isRequired || field.initial !== undefined

/** An empty text: null where that means none, nothing where the service knows better. */
function emptyOf(field: Field | undefined): '' | null | undefined {
  if (!isDefined(field)) return undefined
  return field?.isNullable === true ? null : ''
}

export function groupValue(
  { fields, fixed }: Group,
  { fields: drafts, off, unknown }: GroupDraft,
): Fields {
  const sent = Object.entries(fields).filter(([name]) => !off.includes(name))
  const values = sent.map(
    ([name, field]) => [name, valueOf(field.shape, drafts[name], field)] as const,
  )
  const given = values.filter(([, value]) => value !== undefined)
  return { ...fixed, ...unknown, ...Object.fromEntries(given) }
}

function rowsValue(shape: Shape & { kind: 'rows' | 'map' }, { rows, isGiven }: RowsDraft): unknown {
  if (!isGiven) return undefined
  const written = rows.filter(row => isWritten(shape, row))
  if (shape.kind === 'rows') return written.map(({ value }) => valueOf(shape.row, value))
  return Object.fromEntries(
    written.map(({ name, value }) => [name, valueOf(shape.value, value, requiredField)]),
  )
}

/** Rows of a map that nobody wrote in are not meant; so are those of a list of names and values. */
export function isWritten(shape: Shape & { kind: 'rows' | 'map' }, row: RowDraft): boolean {
  if (shape.kind === 'map')
    return row.name !== '' || JSON.stringify(row.value) !== freshText(shape.value)
  const isPairs = Object.keys(shape.row.fields).join() === 'name,value'
  return !isPairs || JSON.stringify(row.value) !== freshText(shape.row)
}

const freshText = (shape: Shape): string => JSON.stringify(draftOf(shape, undefined))

export function withRow(shape: Shape & { kind: 'rows' | 'map' }, { rows }: RowsDraft): RowsDraft {
  const value = draftOf(shape.kind === 'rows' ? shape.row : shape.value, undefined)
  return {
    kind: 'rows',
    rows: [...rows, { key: freshRowKey(rows), name: '', value }],
    isGiven: true,
  }
}

/** Another variant takes along what was typed in fields of the same name. */
export function choose(shape: Variants, draft: VariantsDraft, chosen: string): VariantsDraft {
  const [before, next] = [draft.typed[draft.chosen], draft.typed[chosen]]
  const to = shape.variants[chosen]
  if (!isGroup(before) || !isGroup(next) || to?.kind !== 'group') return { ...draft, chosen }
  const shared = Object.keys(to.fields).filter(name => typeof before.fields[name] === 'string')
  const fields = { ...next.fields, ...pick(before.fields, shared) }
  return { ...draft, chosen, typed: { ...draft.typed, [chosen]: { ...next, fields } } }
}

const pick = <V>(from: Readonly<Record<string, V>>, names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, from[name]!]))

export const isGroup = (draft: Draft | undefined): draft is GroupDraft =>
  typeof draft === 'object' && draft?.kind === 'group'
