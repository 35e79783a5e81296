// What a form has to draw, read from a JSON Schema: which fields there are, what each takes, what is
// required, defaults, limits and help. The build makes shapes; see scripts/build/form-shapes.ts.

export type Shape =
  | { readonly kind: 'text' }
  | { readonly kind: 'number'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'moment' }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  /** A list of texts. */
  | { readonly kind: 'texts' }
  /** Anything else, as JSON. */
  | { readonly kind: 'json' }
  | { readonly kind: 'rows'; readonly row: Group }
  /** Names that are not known beforehand, such as headers. */
  | { readonly kind: 'map'; readonly value: Shape }
  | Group
  | Variants

export interface Group {
  readonly kind: 'group'
  readonly fields: Readonly<Record<string, Field>>
  /** Sent as it is, such as the kind of an action. */
  readonly fixed: Readonly<Record<string, unknown>>
  /** Fields of which one is sent. With `isOptional`, or none. */
  readonly either?: { readonly members: readonly string[]; readonly isOptional: boolean }
}

/** One of several forms. `tag` names the fixed field that tells groups apart, when there is one. */
export interface Variants {
  readonly kind: 'variants'
  readonly tag: string | null
  /** Null for a plain word, such as `skip`. */
  readonly variants: Readonly<Record<string, Shape | null>>
}

export interface Field {
  readonly shape: Shape
  readonly isRequired: boolean
  readonly isNullable: boolean
  readonly initial?: unknown
  readonly help?: string
}

export interface JsonSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly description?: string
  readonly readOnly?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly additionalProperties?: boolean | JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** The group of an object's schema. What the service gives, and what has one value only, is no field. */
export function groupOf(schema: JsonSchema, root: JsonSchema = schema): Group {
  const { properties = {}, required = [] } = resolved(schema, root)
  const fields = Object.entries(properties).flatMap(([name, one]) => {
    const field = fieldOf(resolved(one, root), required.includes(name), root)
    return field === null ? [] : [[name, field] as const]
  })
  const fixed = required.flatMap(name => {
    const value = constantOf(resolved(properties[name] ?? {}, root))
    return value === undefined ? [] : [[name, value] as const]
  })
  return { kind: 'group', fields: Object.fromEntries(fields), fixed: Object.fromEntries(fixed) }
}

function fieldOf(schema: JsonSchema, isRequired: boolean, root: JsonSchema): Field | null {
  if (schema.readOnly === true || constantOf(schema) !== undefined) return null
  const all = alternatives(schema, root)
  const some = all.filter(({ type }) => type !== 'null')
  return {
    shape: some.length === 1 ? shapeOf(some[0]!, root) : unionOf(some, root),
    isRequired,
    isNullable: some.length < all.length,
    ...(schema.default === undefined ? {} : { initial: schema.default }),
    ...(schema.description === undefined ? {} : { help: schema.description }),
  }
}

function shapeOf(schema: JsonSchema, root: JsonSchema): Shape {
  const { type, format, minimum: min, maximum: max, items, additionalProperties: others } = schema
  if (schema.enum !== undefined) return { kind: 'choice', options: schema.enum.map(String) }
  if (alternatives(schema, root).length > 1) return unionOf(alternatives(schema, root), root)
  if (type === 'string') return { kind: format === 'date-time' ? 'moment' : 'text' }
  if (type === 'boolean') return { kind: 'flag' }
  if (type === 'number' || type === 'integer') {
    return { kind: 'number', ...limit('min', min), ...limit('max', max) }
  }
  if (schema.properties !== undefined && others !== true) return groupOf(schema, root)
  if (type === 'array' && items !== undefined) {
    const row = shapeOf(resolved(items, root), root)
    if (row.kind === 'group') return { kind: 'rows', row }
    if (row.kind === 'text') return { kind: 'texts' }
  }
  if (type === 'object' && typeof others === 'object' && Object.keys(others).length > 0) {
    return { kind: 'map', value: shapeOf(resolved(others, root), root) }
  }
  return { kind: 'json' }
}

/** Bounds of every whole number say nothing. */
const limit = (name: 'min' | 'max', value: number | undefined) =>
  value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? {} : { [name]: value }

function unionOf(some: readonly JsonSchema[], root: JsonSchema): Shape {
  const groups = some.filter(({ properties }) => properties !== undefined)
  const scalars = some.filter(one => ['string', 'number', 'integer', 'boolean'].includes(one.type!))
  if (groups.length + scalars.length < some.length) return { kind: 'json' }
  const words = scalars.flatMap(
    ({ enum: all, const: one }) => all ?? (one === undefined ? [] : one),
  )
  const free = scalars.filter(one => one.enum === undefined && one.const === undefined)
  if (groups.length === 0) {
    if (free.some(({ type }) => type === 'string')) return { kind: 'text' }
    return free.length > 0
      ? shapeOf(free[0]!, root)
      : { kind: 'choice', options: words as string[] }
  }
  const tag = tagOf(groups)
  return {
    kind: 'variants',
    tag,
    variants: {
      ...Object.fromEntries(words.map(word => [word as string, null])),
      ...(free.length > 0 && { text: { kind: 'text' } }),
      ...Object.fromEntries(groups.map(one => [nameOf(one, tag), groupOf(one, root)])),
    },
  }
}

/** The field that has one value in each of them. */
function tagOf(groups: readonly JsonSchema[]): string | null {
  const names = Object.keys(groups[0]?.properties ?? {})
  const isTag = (name: string) =>
    groups.every(({ properties }) => typeof constantOf(properties?.[name] ?? {}) === 'string')
  return names.find(isTag) ?? null
}

function nameOf({ properties, required }: JsonSchema, tag: string | null): string {
  if (tag !== null) return String(constantOf(properties![tag]!))
  return required?.[0] ?? Object.keys(properties!)[0]!
}

function constantOf(schema: JsonSchema): unknown {
  return schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined)
}

function alternatives(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const some = schema.anyOf ?? schema.oneOf
  if (some === undefined) return [schema]
  return some.flatMap(one => alternatives(resolved(one, root), root))
}

/** The schema a reference names, merged with the keywords beside it; a circular one accepts any value. */
function resolved(schema: JsonSchema, root: JsonSchema, seen: readonly string[] = []): JsonSchema {
  const { $ref, ...beside } = schema
  if ($ref === undefined) return schema
  const meant = root.$defs?.[$ref.replace('#/$defs/', '')]
  if (meant === undefined || seen.includes($ref)) return beside
  return resolved({ ...meant, ...beside }, root, [...seen, $ref])
}
